"""Texts of the object store and of syncs."""

TABLE: dict[str, tuple[str, str]] = {
    "store.no_folder": (
        "文档文件夹 {folder} 不存在。",
        "The document folder {folder} does not exist.",
    ),
    "store.no_folder.hint": (
        "创建或挂载它，或让 KB_LOCAL_ROOT 指向放文档的文件夹；文档在 MinIO 里则设 KB_OBJECTS=minio",
        (
            "Create or mount it, or point KB_LOCAL_ROOT to where the documents are; if they are in"
            " MinIO, set KB_OBJECTS=minio."
        ),
    ),
    "store.unlisted": ("无法列出 {name}：{reason}。", "{name} cannot be listed: {reason}."),
    "store.unlisted.hint": (
        "改正文件夹权限后再同步；在此之前什么都不会删除。",
        "Mend the folder's permissions and sync again; until then nothing is deleted.",
    ),
    "store.changed": ("{name} 在读取期间被改动。", "{name} changed while it was read."),
    "store.slow": ("{name} 传输太慢，已中断。", "{name} arrived too slowly and was broken off."),
    "store.truncated": (
        "{name} 传输中断：应为 {size} 字节，收到 {got} 字节。",
        "{name} was cut short: {got} of {size} bytes arrived.",
    ),
    "store.retry.hint": (
        "再试一次；下次同步会自动重试。",
        "Try again; the next sync does so by itself.",
    ),
    "store.no_bucket": ("没有指定存储桶。", "No bucket is named."),
    "store.no_bucket.hint": (
        "设置 MINIO_BUCKET，或用 --bucket，或写成 s3://桶/键",
        "Set MINIO_BUCKET, or use --bucket, or write s3://bucket/key",
    ),
    "store.endpoint": (
        "MINIO_ENDPOINT 不是有效的地址：{endpoint}",
        "MINIO_ENDPOINT is no address: {endpoint}",
    ),
    "store.endpoint.hint": (
        "写成 主机:端口，例如 127.0.0.1:9000；不带路径，不带账号",
        "Write host:port, for example 127.0.0.1:9000, without a path and without an account",
    ),
    "store.bucket": (
        "{endpoint} 上没有存储桶 {bucket}。",
        "There is no bucket {bucket} on {endpoint}.",
    ),
    "store.bucket.hint": (
        "核对 MINIO_BUCKET 和 MINIO_ENDPOINT，或先创建这个桶",
        "Check MINIO_BUCKET and MINIO_ENDPOINT, or create the bucket first",
    ),
    "store.access_key": (
        "{endpoint} 不认识这个访问密钥（access key）。",
        "{endpoint} does not know the access key.",
    ),
    "store.access_key.hint": (
        "核对 MINIO_ACCESS_KEY。由 DSH 启动时要写进它的 env：DSH 不传递继承来的密钥",
        (
            "Check MINIO_ACCESS_KEY. Started by DSH, it must be in DSH's env: DSH strips inherited"
            " secrets"
        ),
    ),
    "store.secret_key": (
        "{endpoint} 拒绝了签名：密钥（secret key）不对。",
        "{endpoint} refused the signature: the secret key is wrong.",
    ),
    "store.secret_key.hint": ("核对 MINIO_SECRET_KEY", "Check MINIO_SECRET_KEY"),
    "store.denied": (
        "{endpoint} 不允许访问存储桶 {bucket}。",
        "{endpoint} does not allow access to the bucket {bucket}.",
    ),
    "store.denied.hint": (
        (
            "核对 MINIO_ACCESS_KEY 和 MINIO_SECRET_KEY（由 DSH 启动时写进它的 env），"
            "并给予 s3:ListBucket、s3:GetObject、s3:GetBucketLocation 权限"
        ),
        (
            "Check MINIO_ACCESS_KEY and MINIO_SECRET_KEY (under DSH: in its env), and grant"
            " s3:ListBucket, s3:GetObject and s3:GetBucketLocation"
        ),
    ),
    "store.clock": (
        "本机与 {endpoint} 的时钟相差太大，签名被拒绝。",
        "The clocks of this machine and {endpoint} differ too much: the signature was refused.",
    ),
    "store.clock.hint": ("校准两边的时间（NTP）", "Set both clocks (NTP)"),
    "store.region": (
        "{endpoint} 要求别的区域（region）。",
        "{endpoint} wants another region.",
    ),
    "store.region.hint": ("设置 MINIO_REGION", "Set MINIO_REGION"),
    "store.not_s3": (
        "{endpoint} 的回答不是 S3。",
        "What {endpoint} answers is not S3.",
    ),
    "store.not_s3.hint": (
        "核对 MINIO_ENDPOINT 的端口（不是控制台端口）和 MINIO_SECURE（true 为 https）",
        "Check the port in MINIO_ENDPOINT (not the console's) and MINIO_SECURE (true: https)",
    ),
    "store.tls": (
        "与 {endpoint} 的 TLS 连接失败：{reason}。",
        "TLS with {endpoint} failed: {reason}.",
    ),
    "store.tls.hint": (
        "服务器只用 http 则设 MINIO_SECURE=false；自签证书则让 SSL_CERT_FILE 指向签发它的 CA 证书",
        (
            "If the server speaks plain http, set MINIO_SECURE=false; for a certificate of yours,"
            " point SSL_CERT_FILE to its CA"
        ),
    ),
    "store.unreachable": (
        "无法连接 {endpoint}：{reason}。",
        "{endpoint} cannot be reached: {reason}.",
    ),
    "store.unreachable.hint": (
        "启动对象存储，或改正 MINIO_ENDPOINT",
        "Start the object store, or correct MINIO_ENDPOINT",
    ),
    "store.failed": (
        "{endpoint}（桶 {bucket}）没有正常回答：{reason}。",
        "{endpoint} (bucket {bucket}) did not answer properly: {reason}.",
    ),
    "store.failed.hint": (
        "稍后再试；一直如此则检查对象存储的日志",
        "Try again later; if it goes on, see the object store's log",
    ),
    "store.no_key": ("{address} 没有写明对象的键。", "{address} names no object."),
    "store.no_key.hint": ("写成 s3://桶/键", "Write s3://bucket/key"),
    "store.near.hint": ("相近的对象：{names}", "Objects like it: {names}"),
    "sync.lost": (
        "对象存储中途失联，同步已停止（已入库的不会丢失）：{reason}",
        (
            "The object store was lost on the way and the sync stopped (what was taken is safe):"
            " {reason}"
        ),
    ),
    "sync.empty": (
        (
            "{store} 列出来是空的，而索引里有 {count} 个文档：可能是挂载丢失或写错了桶。"
            "什么都没有删除。确实清空了的话，加 --delete 再同步一次。"
        ),
        (
            "{store} lists nothing while the index has {count} documents: a lost mount or a wrong"
            " bucket, maybe. Nothing was deleted. If it is meant, sync again with --delete."
        ),
    ),
    "sync.still_there": (
        "列表里没有它，但对象还在：没有删除",
        "Not listed, yet the object is there: not deleted",
    ),
}
