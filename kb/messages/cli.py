"""Texts of cli."""

TABLE: dict[str, tuple[str, str]] = {
    "cli.clients.about": (
        "打印可直接粘贴的 MCP 客户端配置",
        "Print configuration blocks for MCP clients, ready to paste",
    ),
    "cli.clients.http_help": (
        "改为连接以 --http 启动的服务，例如 http://127.0.0.1:8000/mcp",
        "connect to a server that runs with --http, e.g. http://127.0.0.1:8000/mcp",
    ),
    "cli.clients.client_help": ("只打印这一个客户端的配置", "print the block of this client only"),
    "cli.clients.secret": ("<在此填写 {name}>", "<fill in {name}>"),
    "cli.clients.dsh": (
        "DSH：写入项目的 cordis.patch.yml",
        "DSH: in the project's cordis.patch.yml",
    ),
    "cli.clients.claude_desktop": (
        "Claude Desktop：写入 claude_desktop_config.json（设置 → 开发者 → 编辑配置）",
        "Claude Desktop: in claude_desktop_config.json (Settings → Developer → Edit Config)",
    ),
    "cli.clients.claude_code": ("Claude Code：运行命令", "Claude Code: run"),
    "cli.clients.claude_code_file": (
        "或写入项目根目录的 .mcp.json：",
        "or put this in .mcp.json at the project's root:",
    ),
    "cli.clients.cursor": ("Cursor：写入 .cursor/mcp.json", "Cursor: in .cursor/mcp.json"),
    "cli.clients.vscode": ("VS Code：写入 .vscode/mcp.json", "VS Code: in .vscode/mcp.json"),
    "cli.clients.codex": ("Codex：写入 ~/.codex/config.toml", "Codex: in ~/.codex/config.toml"),
}
