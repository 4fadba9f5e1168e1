from __future__ import annotations

from pathlib import Path

import pytest
from core_support import Library, settings_for


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """An empty knowledge base over plain text files, with the hashing embedder."""
    return Library(tmp_path, settings_for(tmp_path))
