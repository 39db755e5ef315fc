"""
The local detector: no model, no network, no key.

One scan finds candidates by form; the words of and around each say what it is; a second
pass finds every later form of a name. Tables of words and names come with the package
and only ever weigh, never decide. Linear in the text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sdrag.detectors.local.name_forms import later_forms as later_forms
from sdrag.effects.steps import Outcome, Steps, try_each
from sdrag.vocabulary import Mention


def mentions(text: str, off: Collection[str] = ()) -> tuple[Mention, ...]:
    """Find what identifies in a text; the recognisers named in `off` do not run."""
    # Most patterns of the rules are compiled here, not where a wrapper is imported.
    from sdrag.detectors.local.passes import find_mentions  # noqa: PLC0415

    return find_mentions(text, off)


@dataclass(frozen=True, slots=True)
class LocalDetector:
    """
    Find what identifies people, by rules.

    Args:
        off: Names of recognisers that do not run; `sdrag check --recognisers` lists
            them.
    """

    off: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "off", tuple(sorted(set(self.off))))

    @property
    def finds(self) -> frozenset[str]:
        """The types of what it finds."""
        from sdrag.detectors.local.recognisers import types_found  # noqa: PLC0415

        return types_found(self.off)

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        yield from ()
        return try_each(self._read, texts)

    def _read(self, text: str) -> tuple[Mention, ...]:
        return mentions(text, self.off)
