"""The text of a file of unknown encoding."""

from __future__ import annotations

import codecs

from sdrag.errors import require_extra

__all__ = ["decoded"]

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks; those of UTF-32 begin with those of UTF-16, so they come first."""

_SAMPLE = 65_536
"""So many bytes are enough to tell an encoding."""


def decoded(data: bytes) -> str:
    """
    Decode text: by its byte order mark, as UTF-8, or as what it looks like.

    Args:
        data: All of a file.

    Raises:
        ValueError: It is no text.
        MissingExtraError: It is not UTF-8, and the extra `documents` is missing.
    """
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding)
    if b"\0" in data:
        raise ValueError
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_guessed(data))


def _guessed(data: bytes) -> str:
    with require_extra("documents", "Text that is not UTF-8"):
        from charset_normalizer import from_bytes  # noqa: PLC0415 -- an extra
    best = from_bytes(data[:_SAMPLE]).best()
    if best is None:
        raise ValueError
    return str(best.encoding)
