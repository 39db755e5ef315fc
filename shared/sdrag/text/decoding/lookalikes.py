"""Letters of other scripts that look like Latin ones; `lookalikes.txt` lists them."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["LOOKALIKES"]

_LINES = files("sdrag.text.decoding").joinpath("lookalikes.txt").read_text("utf-8")
LOOKALIKES = {
    lookalike: line[0]
    for line in _LINES.splitlines()
    if not line.startswith("#")
    for lookalike in line[2:]
}
"""The letter that each looks like."""
