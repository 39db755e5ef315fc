"""The `sdrag` command. `main` is its entry point and names the extra it needs."""

from __future__ import annotations

import io
import logging
import sys
from pathlib import Path
from traceback import walk_tb

from sdrag.errors import SdragError
from sdrag.privacy.log_privacy import RawTextFilter

__all__ = ["main"]


def main() -> None:
    """Run the command; an error is one line and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name may have any character
            stream.reconfigure(errors="backslashreplace")
    handler = logging.StreamHandler()
    handler.addFilter(RawTextFilter())  # what other packages log and warn of
    logging.basicConfig(format="%(message)s", handlers=[handler])
    logging.captureWarnings(capture=True)
    try:
        from sdrag.errors import require_extra

        with require_extra("cli", "The sdrag command"):
            from sdrag.studio.cli.app import app
        app()
    except SdragError as error:
        sys.stderr.write(f"sdrag: {error}\n")
        raise SystemExit(2) from None
    except Exception as error:  # noqa: BLE001 -- its message may quote a file
        kind, where = type(error).__name__, _place(error)
        sys.stderr.write(f"sdrag: The command failed with {kind} in {where}.\n")
        raise SystemExit(2) from None


def _place(error: Exception) -> str:
    """Return the last line of ours that an error came through."""
    ours = Path(__file__).parents[1]
    places = [
        f"{path.relative_to(ours).as_posix()}, line {line}"
        for frame, line in walk_tb(error.__traceback__)
        if (path := Path(frame.f_code.co_filename)).is_relative_to(ours)
    ]
    return places[-1]
