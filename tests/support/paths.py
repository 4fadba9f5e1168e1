"""Where the repository is, and the shared data beside it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("KB_SHARED", ROOT.parent / "shared"))
