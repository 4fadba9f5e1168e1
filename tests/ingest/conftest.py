from __future__ import annotations

from pathlib import Path

import pytest
from sync_support import Folder, Following

from kb.objects.folder import FolderStore


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files written a moment ago count as settled: most tests are about something else."""
    monkeypatch.setattr("kb.objects.folder._UNSETTLED_NS", -1)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "docs")


@pytest.fixture
def following(tmp_path: Path, folder: Folder) -> Following:
    return Following(tmp_path, FolderStore(folder.root))
