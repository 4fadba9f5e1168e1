"""`python -m kb.demo`: the older name of `python -m kb demo`."""

from __future__ import annotations

import sys

from kb.cli.demo import main

if __name__ == "__main__":
    sys.exit(main())
