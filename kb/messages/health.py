"""Texts of the health checks: the server at an address, the packages of an installation."""

TABLE: dict[str, tuple[str, str]] = {
    "doctor.url_help": (
        "只检查这个地址上的服务（真正做一次 MCP 握手），例如 http://127.0.0.1:8000",
        "check only the server at this address, by a real MCP handshake: http://127.0.0.1:8000",
    ),
    "doctor.then": (
        "{hint}；改好后：python -m kb.doctor",
        "{hint}; when that is done: python -m kb.doctor",
    ),
    "doctor.server": ("服务", "Server"),
    "doctor.packages": ("依赖包", "Packages"),
    "doctor.packages.ok": ("{count} 个依赖包齐全", "all {count} of requirements.txt"),
    "doctor.packages.missing": ("缺少 {names}", "missing: {names}"),
    "health.ok": (
        "{url} 正常：{name} {version}，{tools} 个工具，{seconds:.2f} 秒",
        "{url} is healthy: {name} {version}, {tools} tools, {seconds:.2f} s",
    ),
    "health.no_answer": ("{url} 没有应答：{reason}", "{url} does not answer: {reason}"),
    "health.no_mcp": (
        "{url} 有应答，但不是 MCP 服务",
        "{url} answers, but is no MCP server",
    ),
    "health.other": (
        "{url} 是别的 MCP 服务：没有工具 {names}",
        "{url} is another MCP server: it has no tool {names}",
    ),
    "health.token": (
        "{url} 需要令牌：KB_HTTP_TOKEN 未设置或不对",
        "{url} wants a token: KB_HTTP_TOKEN is not set here, or another",
    ),
    "health.bad_url": ("{url} 不是 HTTP 地址。", "{url} is no HTTP address."),
    "health.bad_url.hint": (
        "例如 python -m kb.doctor --url http://127.0.0.1:8000",
        "For example python -m kb.doctor --url http://127.0.0.1:8000",
    ),
}
