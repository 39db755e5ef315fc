"""
The injection scan: text from the store that talks to the model instead of the reader.

`disguises` reads through encodings, `patterns` knows phrases, `classifier` reads
windows of sentences with a trained head, `scan` puts them together for a text and the
passages of a request, and `screen` decides what becomes of a passage. Passages are sent
to `judges={"injection": ...}` where it is passed, and to no other model.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sdrag.sections import Count, GuardSection, Share


class InjectionSection(GuardSection):
    """What happens to passages that give instructions to a model."""

    threshold: Share = 0.5
    """The least score of a window that counts."""
    action: Literal["drop", "strip", "flag"] = "drop"
    """Drop the passage, strip the sentences, or flag and keep it."""
    max_characters: Count = 20_000
    """A longer passage is treated as an injection."""
    decode_depth: Annotated[int, Field(ge=0, le=5)] = 3
    """How many encodings inside each other are undone."""
    local_classifier: bool = True
    """Use the trained head too (extra `local`)."""
