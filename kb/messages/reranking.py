"""Texts of the reranker."""

TABLE: dict[str, tuple[str, str]] = {
    "rerank.cannot_load": (
        "重排模型 {folder} 无法加载：{error}",
        "The reranker {folder} cannot be loaded: {error}",
    ),
    "rerank.wrong": (
        "{folder} 不是重排（cross-encoder）模型：{found}",
        "{folder} is no reranker (cross-encoder): {found}",
    ),
    "rerank.wrong_hint": (
        (
            "KB_RERANKER 要的是对“问题＋段落”打分、输出 logits 的模型，例如 "
            "python -m kb.doctor --download-model bge-reranker-base；"
            "向量模型请用 KB_EMBEDDER=onnx:目录。"
        ),
        (
            "KB_RERANKER takes a model that scores pairs of question and passage and whose output "
            "is logits, such as python -m kb.doctor --download-model bge-reranker-base; an "
            "embedding model belongs to KB_EMBEDDER=onnx:FOLDER."
        ),
    ),
    "rerank.broken_hint": (
        "检查模型文件，或删掉这个文件夹后重新下载：python -m kb.doctor --download-model 名称",
        (
            "Check its files, or delete the folder and fetch it again: "
            "python -m kb.doctor --download-model NAME"
        ),
    ),
    "rerank.run": (
        "重排模型 {name} 运行出错：{error}",
        "The reranker {name} failed: {error}",
    ),
    "rerank.shape": (
        "重排模型 {name} 的输出形状是 {got}，应为 ({rows}, 1) 或 ({rows}, 2)。",
        "The reranker {name} returned shape {got}, not ({rows}, 1) or ({rows}, 2).",
    ),
    "rerank.not_finite": (
        "重排模型 {name} 返回了 NaN 或无穷大。",
        "The reranker {name} returned NaN or infinity.",
    ),
    # -- what a search says
    "rerank.loading": (
        "重排模型还在加载，本次按通常的顺序。",
        "The reranker is still loading: the usual order this time.",
    ),
    "rerank.failed": (
        "没有重排，按通常的顺序：{reason}",
        "Not reranked, the usual order: {reason}",
    ),
    "rerank.slow": (
        "重排模型太慢，{seconds:.0f} 秒内比不了两段，按通常的顺序。",
        "The reranker is too slow to compare two passages in {seconds:.0f} s: the usual order.",
    ),
    # -- what the doctor says
    "doctor.reranker": ("重排模型", "reranker"),
    "doctor.reranker.off": ("未启用（KB_RERANKER 为空）", "off (KB_RERANKER is empty)"),
    "doctor.reranker.ok": (
        "{name}，加载 {seconds:.1f} 秒，每对 {ms:.0f} 毫秒，{budget:.0f} 秒内约 {pairs} 段",
        (
            "{name}, loads in {seconds:.1f} s, {ms:.0f} ms a pair, about {pairs} passages in "
            "{budget:.0f} s"
        ),
    ),
    "doctor.downloaded.reranker": (
        "重排模型 {name} 已放入 {folder}。启用它：KB_RERANKER={name}",
        "The reranker {name} is in {folder}. To use it: KB_RERANKER={name}",
    ),
}
