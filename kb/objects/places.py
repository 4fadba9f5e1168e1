"""What a person or an agent names: a file, or an object of a store, and its source."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import InvalidInput, KbError, NotFound
from kb.messages import tr
from kb.objects.fetch import copied, fetched
from kb.objects.folder import FolderStore, as_on_disk, lies_at, resolve_key
from kb.objects.naming import name_objects
from kb.text.names import clean_source, near_names

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kb.catalog import Catalog
    from kb.config import Settings
    from kb.objects.fetch import Copy
    from kb.ports import ObjectStore

_SCHEME = "s3://"
_LOOKED_AT = 1_000


@dataclass(frozen=True, slots=True)
class Named:
    """A file at a path, or, with a `store`, the object with a key."""

    address: str
    store: ObjectStore | None = None

    def copying(self, max_mb: int) -> AbstractContextManager[Copy]:
        """Its bytes, read once; see `kb.objects.fetch`."""
        if self.store is None:
            return copied(Path(self.address), max_mb)
        return fetched(self.store, self.address, max_mb)


class Places:
    """The stores of one configuration, each opened once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stores: dict[str, ObjectStore] = {}

    def store(self, bucket: str = "") -> ObjectStore:
        """The bucket's store; without one, that of the configuration. Raises InvalidInput."""
        if not bucket and self._settings.objects == "folder":
            return FolderStore(self._settings.local_root)
        from kb.objects.minio import MinioStore

        name = bucket or self._settings.minio_bucket
        if name not in self._stores:
            self._stores[name] = MinioStore(self._settings.s3_options, name)
        return self._stores[name]

    def source_prefix(self, store: ObjectStore) -> str:
        """What the sources of a store begin with: nothing for the configured one."""
        own = self._settings.objects == "folder" or bool(self._settings.minio_bucket)
        return "" if own and store.name == self.store().name else f"{store.name}/"

    def find(self, name: str | Path) -> Named:
        """The object `s3://bucket/key`, the file at a path, or the object with this key.

        A file in the folder of documents is an object of it. A file that exists comes before an
        object of the same name. Raises InvalidInput, and NotFound where there can be neither.
        """
        text = str(name)
        if text.startswith(_SCHEME):
            bucket, _, key = text.removeprefix(_SCHEME).partition("/")
            if not bucket or not key:
                raise InvalidInput(tr("store.no_key", address=text), tr("store.no_key.hint"))
            return Named(key, self.store(bucket))
        path = Path(text)
        if lies_at(path):
            return self._in_folder(path) or Named(text)
        if self._settings.objects == "minio" and not path.is_absolute():
            return Named(text, self.store())
        kept = as_on_disk(self._settings.local_root / text)
        return (self._in_folder(kept) if kept else None) or Named(text)

    def find_for_agent(self, name: str) -> Named:
        """What the tool may read for `name`: objects, and files inside KB_INGEST_ROOTS.

        Raises InvalidInput, NotFound, Refused.
        """
        settings = self._settings
        text = name.strip()
        if text.startswith(_SCHEME):
            return self.find(text)
        if settings.objects == "minio" and text and not Path(text).expanduser().is_absolute():
            return Named(text, self.store())
        path, _key = resolve_key(name, settings.roots)
        return self._in_folder(path) or Named(str(path))

    def source_of(self, named: Named, catalog: Catalog) -> str:
        """What `named` is called: the name its object has already, or a new one of its own."""
        store = named.store
        if store is None:
            return clean_source(Path(named.address).name)
        with catalog.reading() as reader:
            held = {d.object_key: d.source for d in reader.documents_of(store.name)}
        names = name_objects([named.address], held, self.source_prefix(store), clean_source)
        return names[named.address]

    def with_near_names(self, named: Named, error: NotFound) -> NotFound:
        """`error`, naming objects that are like a missing one, where that is soon known."""
        if named.store is None:
            return error
        folder = named.address.rpartition("/")[0]
        try:
            listed = islice(named.store.list(f"{folder}/" if folder else ""), _LOOKED_AT)
            near = near_names(named.address, [ref.key for ref in listed])
        except KbError:
            return error
        if not near:
            return error
        names = tr("list.separator").join(f'"{name}"' for name in near)
        return NotFound(error.message, tr("store.near.hint", names=names))

    def _in_folder(self, path: Path) -> Named | None:
        """The file as an object of the folder of documents, if that is where documents are."""
        root = self._settings.local_root
        if self._settings.objects != "folder" or path.is_dir():
            return None
        try:
            key = path.resolve().relative_to(root.resolve()).as_posix()
        except ValueError:
            return None
        return Named(key, self.store())
