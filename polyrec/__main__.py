"""`python -m polyrec`, also under torchrun."""

from __future__ import annotations

import sys

from polyrec.cli import main

if __name__ == "__main__":
    sys.exit(main())
