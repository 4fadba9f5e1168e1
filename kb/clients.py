"""`python -m kb.clients`: the older name of `python -m kb clients`."""

from __future__ import annotations

import sys

from kb.cli.clients import main

if __name__ == "__main__":
    sys.exit(main())
