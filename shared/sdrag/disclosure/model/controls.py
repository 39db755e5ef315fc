"""
Control questions: what a prompt asks although the answer is known.

A model that was talked into saying nothing, or that answers without reading, gives
itself away: it fails a question of which nobody can tell that it is one. What is asked
for is drawn by a keyed digest of what the prompt shows: a kind of words that the
prompt's own constraints ask for, where there is one; words of that kind, which have to
go; and words that need not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import Self

from sdrag.detectors.local.tables import first_names, places, surnames
from sdrag.disclosure.constraint_parser import parse
from sdrag.text.folding import fold, fold_text
from sdrag.text.spans import locate
from sdrag.vocabulary import Confidential, Constraint, Span

FIRST_NUMBER = 100
"""Ids that are drawn begin here; those of the examples in prompts are below."""


def seed(shown: Iterable[str], key: bytes) -> Random:
    """Return what draws controls: nobody without the key foresees them."""
    data = "\0".join(shown).encode("utf-8", "surrogatepass")
    digest = blake2b(data, key=key, digest_size=32, person=b"control").digest()
    return Random(digest)  # noqa: S311 -- the seed is keyed, and no output is shown


def draw_kind(
    draw: Random, constraints: Iterable[Constraint]
) -> tuple[str, Callable[[Random], str]]:
    """
    Draw what a control asks for: what the constraints ask for, or else anything.

    Returns:
        The words of its constraint, and what draws words that have to go.
    """
    types = {type_ for rule in constraints for type_ in parse(rule).types}
    kinds = sorted(types & _KINDS.keys()) or [*_KINDS]
    noun, draw_secret = _KINDS[draw.choice(kinds)]
    return f"Take out {noun} of any kind", draw_secret


def draw_harmless(draw: Random) -> str:
    """Draw words that need not go."""
    return draw.choice(_HARMLESS)


@dataclass(frozen=True, slots=True, repr=False)
class Planted(Confidential):
    """
    A sentence in a text, and a constraint that takes some of its words and no others.

    Args:
        id: Of the constraint.
        constraint: Its words.
        sentence: With words that have to go and words that need not.
        secret: What has to go.
        harmless: What need not.
    """

    id: str
    constraint: str
    sentence: str
    secret: str
    harmless: str

    @classmethod
    def draw(cls, draw: Random, constraints: Sequence[Constraint]) -> Self:
        """Draw one for a prompt that asks about these constraints."""
        constraint, draw_secret = draw_kind(draw, constraints)
        secret, harmless = draw_secret(draw), draw_harmless(draw)
        first, second = draw.sample((secret, harmless), 2)
        taken = {rule.id.casefold() for rule in constraints}
        ids = (f"c{draw.randrange(FIRST_NUMBER, 1000)}" for _ in iter(int, 1))
        return cls(
            next(name for name in ids if name not in taken),
            constraint,
            f"Somebody asked for {first} and {second}.",
            secret,
            harmless,
        )

    def is_answered(self, quotations: Iterable[str]) -> bool:
        """Say whether quotations take what has to go, and nothing that need not."""
        folded = fold(self.sentence)
        taken = [span for each in quotations for span in locate(each, folded)]
        return self._meets(self.secret, taken) and not self._meets(self.harmless, taken)

    def is_copied(self, quotations: Iterable[str]) -> bool:
        """Say whether a quotation takes along what nobody asked for: all of a text."""
        harmless = fold_text(self.harmless)
        return any(harmless in fold_text(each) for each in quotations)

    def _meets(self, words: str, taken: Iterable[Span]) -> bool:
        start = self.sentence.index(words)
        held = Span(start, start + len(words))
        return any(held.overlaps(span) for span in taken)


def _digits(draw: Random, count: int) -> str:
    return "".join(draw.choices("0123456789", k=count))


def _name(draw: Random) -> str:
    return (
        f"{draw.choice(_sort_names(first_names))} {draw.choice(_sort_names(surnames))}"
    )


@lru_cache
def _sort_names(names: Callable[[], Iterable[str]]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names() if name.isalpha() and len(name) > 2))


_ILLNESSES = (
    "asthma", "epilepsy", "psoriasis", "hepatitis", "anaemia", "gout", "pneumonia",
    "diabetes", "glaucoma", "eczema", "tuberculosis", "shingles", "lupus", "dementia",
)  # fmt: skip
_TRADES = (
    "a locksmith", "a beekeeper", "a midwife", "a tram driver", "a notary", "a roofer",
    "a welder", "a vet", "a glazier", "a court usher", "a translator", "a florist",
)  # fmt: skip
_MONTHS = ("January", "March", "April", "June", "July", "August", "October", "November")
_HARMLESS = tuple(
    f"the {quality} {thing}"
    for quality in ("old", "new", "second", "spare", "blue", "heavy")
    for thing in ("chair", "printer", "corridor", "kettle", "folder", "window")
)
_KINDS: Mapping[str, tuple[str, Callable[[Random], str]]] = {
    "PERSON": ("the names of people", _name),
    "PHONE_NUMBER": (
        "telephone numbers",
        lambda draw: f"0{_digits(draw, 3)} {_digits(draw, 6)}",
    ),
    "EMAIL_ADDRESS": (
        "e-mail addresses",
        lambda draw: f"{_name(draw).replace(' ', '.').lower()}@example.org",
    ),
    "DATE": (
        "exact dates",
        lambda draw: (
            f"{draw.randint(1, 28)} {draw.choice(_MONTHS)} {draw.randint(1948, 2024)}"
        ),
    ),
    "MONEY": (
        "sums of money",
        lambda draw: f"{draw.randint(2, 98)},{_digits(draw, 3)} euros",
    ),
    "LOCATION": ("names of places", lambda draw: draw.choice(_sort_names(places))),
    "CONDITION": ("illnesses", lambda draw: draw.choice(_ILLNESSES)),
    "JOB_TITLE": ("trades", lambda draw: draw.choice(_TRADES)),
}
"""What a control constraint can ask for, by type, and how words for it are drawn."""
