"""`python -m kb.doctor`: the older name of `python -m kb doctor`."""

from __future__ import annotations

import sys

from kb.cli.doctor import main

if __name__ == "__main__":
    sys.exit(main())
