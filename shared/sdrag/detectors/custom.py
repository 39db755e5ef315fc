"""A recogniser of an application's own: a name, types, and a pattern or a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sdrag.effects.steps import Outcome, Steps, try_each
from sdrag.errors import UsageError
from sdrag.text.patterns import LinearPattern
from sdrag.vocabulary import Mention, Span

__all__ = ["CustomRecogniser"]

_NEAR = 40
"""Characters on both sides of a match in which a cue counts."""
_TYPE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class CustomRecogniser:
    """
    Find what a pattern matches or a function returns; what is found is unioned.

    It is a detector: pass it as `Options(detector=...)`, several of them in a
    `UnionDetector`.

    Args:
        name: What was found is kept under it. Give another one to a function that finds
            something else, and a corpus is read again.
        types: Of what it finds, or the one type; a constraint that asks for any of
            them withholds it.
        pattern: In the syntax of RE2, which takes linear time; letters match in any
            case.
        find: In place of a pattern: takes a text, and returns the start and the end of
            each match, in characters.
        cues: Words of which one must be within 40 characters of a match; none are
            needed where there are none.
        confidence: Of what it finds, up to 1.

    Raises:
        UsageError: There is neither a pattern nor a function, or both; the pattern is
            none; or a type is not in capitals.
    """

    name: str
    types: tuple[str, ...] | str
    pattern: str = field(default="", repr=False)
    find: Callable[[str], Iterable[tuple[int, int]]] | None = field(
        default=None, repr=False
    )
    cues: tuple[str, ...] = field(default=(), repr=False)
    confidence: float = 0.9
    _compiled: LinearPattern | None = field(init=False, repr=False, compare=False)
    _cue: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if bool(self.pattern) == (self.find is not None):
            raise UsageError("A recogniser needs a pattern or a function, one of them.")
        types = (self.types,) if isinstance(self.types, str) else tuple(self.types)
        if not types or not all(map(_TYPE.fullmatch, types)):
            raise UsageError("The types of a recogniser are names in capitals.")
        object.__setattr__(self, "types", types)
        object.__setattr__(self, "cues", tuple(self.cues))
        try:
            compiled = LinearPattern(self.pattern) if self.pattern else None
        except ValueError:
            raise UsageError(
                "The pattern of a recogniser is not in the syntax of RE2."
            ) from None
        object.__setattr__(self, "_compiled", compiled)
        words = "|".join(map(re.escape, self.cues))
        object.__setattr__(self, "_cue", re.compile(rf"(?i)\b(?:{words})\b"))

    @property
    def identity(self) -> str:
        """Names it with its pattern, which may quote what is hidden: in no repr."""
        return f"{self!r} {self.pattern!r} {self.cues!r}"

    @property
    def finds(self) -> frozenset[str]:
        """The types of what it finds."""
        return frozenset(self.types)

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        yield from ()
        return try_each(lambda text: tuple(self._mentions(text)), texts)

    def _mentions(self, text: str) -> Iterator[Mention]:
        for span in sorted(self._spans(text)):
            if not self.cues or self._is_cued(text, span):
                for type_ in self.types:
                    yield Mention(span, type_, self.confidence, self.name)

    def _spans(self, text: str) -> Iterable[Span]:
        if self._compiled is not None:
            return self._compiled.find(text)
        assert self.find is not None
        return (Span(start, end) for start, end in self.find(text))

    def _is_cued(self, text: str, span: Span) -> bool:
        before = text[max(0, span.start - _NEAR) : span.start]
        after = text[span.end : span.end + _NEAR]
        return any(map(self._cue.search, (before, after)))
