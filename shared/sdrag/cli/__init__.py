"""The `sdrag` command. `main` is its entry point and names the extra it needs."""

from __future__ import annotations

import sys

from sdrag.errors import SdragError

__all__ = ["main"]


def main() -> None:
    """Run the command; an error of ours is one line and exit status 2."""
    try:
        from sdrag.extras import require_extra

        with require_extra("cli", "The sdrag command"):
            from sdrag.cli.app import app
        app()
    except SdragError as error:
        sys.stderr.write(f"sdrag: {error}\n")
        raise SystemExit(2) from None
