"""What has left of a streamed answer, and what of its parts may follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdrag.highlight.exchange import Answer, Plan
from sdrag.vocabulary import Confidential, Highlight

__all__ = ["StreamState"]


class StreamState(Confidential):
    """
    What has left of a stream, so that it says what `answer` would.

    A part's plan leaves with the first piece of its answer, after it was judged; a part
    that declines says nothing, unless all do; no highlight is told twice.
    """

    __slots__ = ("_declined", "_highlights", "_telling")

    def __init__(self) -> None:
        self._telling: Plan | None = None
        self._declined: tuple[Plan, str] | None = None
        self._highlights: set[Highlight] = set()

    def __repr__(self) -> str:
        return f"StreamState({len(self._highlights)} highlights)"

    def is_telling(self, held: Plan) -> bool:
        """Say whether something of a part has left."""
        return held is self._telling

    def piece(self, held: Plan, text: str) -> Iterator[str | Plan]:
        """Yield a piece of a part's answer."""
        if not text:
            return
        if held is not self._telling:
            self._telling = held
            fresh = [one for one in held.highlights if one not in self._highlights]
            self._highlights.update(fresh)
            yield replace(held, highlights=tuple(fresh))
        yield text

    def end(self, held: Plan, last: Answer) -> Iterator[str | Plan]:
        """Yield what is left to say of a part."""
        if not last.declined:
            yield from self.piece(held, last.text)
        elif self._declined is None:
            silent = replace(held, highlights=(), reason=last.reason)
            self._declined = silent, last.text

    def rest(self) -> Iterator[str | Plan]:
        """Decline, if nothing was said."""
        if self._telling is None and self._declined is not None:
            yield from self._declined
