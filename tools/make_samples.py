# ruff: noqa: INP001 - a script beside its package
"""Makes `samples/*.pdf` and `samples/*.docx` from the texts in `tools/samples/`.

Run as `python tools/make_samples.py [FOLDER]`. The same texts give the same bytes with the same
versions of pymupdf and python-docx. The font is Droid Sans Fallback (Apache-2.0), which pymupdf
carries; only the glyphs that are used are embedded.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from samples import detailed_rules, plan  # noqa: E402 - the folder of this script comes first

SAMPLES = HERE.parent / "samples"


def main(folder: Path = SAMPLES) -> None:
    """Write both documents into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    plan.write(folder / "海州市数字档案建设规划.pdf")
    detailed_rules.write(folder / "电子档案移交接收实施细则（征求意见稿）.docx")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
