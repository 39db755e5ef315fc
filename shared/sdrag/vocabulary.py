"""
The nouns of the package: frozen, and valid from the moment they exist.

Offsets are in characters of the text they point into (Python `str` indices), half
open like a slice. Whatever holds text or a value found in text is `Confidential`:
its repr shows ids and lengths, and it refuses to be pickled, because a pickle is a
copy of raw text in a place nobody thinks of. Copying returns the object itself, which
is safe since nothing here can change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NoReturn, Self

from sdrag.errors import UsageError

Method = Literal["redact", "rephrase", "withhold"]
"""How a constraint is enforced: cut the spans, say it again without them, or drop."""

Sensitivity = Literal["low", "balanced", "high"]
"""How much the local engine hides; a higher one never hides less."""

WhereMissing = Literal["hold", "skip"]
"""Whether a constraint holds for a passage without the metadata that `where` names."""

Action = Literal["released", "redacted", "withheld", "dropped", "flagged", "annotated"]
"""What was done with a passage or an answer."""

EVIDENCE_KEY = "sdrag"
"""The metadata key under which a released passage says what was done to it: ids and
counts, no content."""

SCORE_DIGITS = 4
"""Decimals of a score that count. What a network or a product of vectors computes
differs by some 1e-6 between processors and batches; the least threshold is 0.01."""

STRUCTURED = frozenset(
    {
        "CODE", "COORDINATES", "CREDENTIAL", "CREDIT_CARD", "DOMAIN_NAME",
        "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "PHONE_NUMBER", "URL", "US_SSN",
    }
)  # fmt: skip
"""Types that the form of a value alone shows, in every language."""

UNNAMED = "unnamed-"
"""How the id begins that represents one where the host gave none."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_DOCUMENT_KEYS = ("document_id", "source", "doc_id")


class Confidential:
    """Keep an object's content out of reprs and pickles."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse to be pickled."""
        raise UsageError(
            f"A {type(self).__name__} holds confidential text and is never pickled.",
            hint="Send the source document and build it again on the other side.",
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of text, from `start` up to and without `end`; never empty."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise UsageError(f"A span cannot run from {self.start} to {self.end}.")

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """Return the characters of `text` that the span covers."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Say whether the two share a character."""
        return self.start < other.end and other.start < self.end

    def contains(self, other: Span) -> bool:
        """Say whether `other` lies within this span."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True, repr=False)
class Passage(Confidential):
    """
    A piece of retrieved or indexed text.

    Args:
        id: Stable within the index.
        text: What the host stored.
        metadata: The host's own, read only.
        score: The host's relevance score, on the host's scale.
        document_id: The document it was cut from, where that is known.
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    score: float | None = None
    document_id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    def __repr__(self) -> str:
        return f"Passage({len(self.text)} characters, score={self.score})"


def name_document(metadata: Mapping[str, Any]) -> str | None:
    """Return what a text's metadata calls its document, in every framework alike."""
    values = (metadata.get(key) for key in _DOCUMENT_KEYS)
    return next((value for value in values if isinstance(value, str) and value), None)


def is_unnamed(passage: Passage) -> bool:
    """Say whether the host gave a passage no id, so that it leaves without one."""
    return passage.id.startswith(UNNAMED)


@dataclass(frozen=True, slots=True, repr=False)
class Keep:
    """
    What stays although a constraint hides its like; one of the first three is given.

    Args:
        words: Each stays wherever it is, in any case.
        pattern: In the syntax of RE2; whatever whole words it matches stay.
        type: Mentions of this type stay.
        unless_near: But not in a sentence that holds one of these words.
    """

    words: tuple[str, ...] = ()
    pattern: str = ""
    type: str = ""
    unless_near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Example(Confidential):
    """
    A text of the policy's author that shows what a constraint means.

    Args:
        text: As a passage could say it.
        hides: What of it must not leave.
        keeps: What of it must stay.
    """

    text: str
    hides: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Pattern:
    """
    A type of values that the policy's author describes, such as employee numbers.

    Args:
        name: What constraints call it, in lower case.
        pattern: In the syntax of RE2; letters match in any case.
        group: Which part of a match goes; 0 is all of it.
        cues: Words of which one must be near a match; none if it needs none.
    """

    name: str
    pattern: str
    group: int = 0
    cues: tuple[str, ...] = ()

    @property
    def noun(self) -> str:
        """Its name as a placeholder says it, without a space."""
        return "-".join(self.name.replace("_", " ").split())


@dataclass(frozen=True, slots=True, repr=False)
class Constraint:
    """
    What a privacy officer wrote, in plain words.

    Args:
        id: Names the constraint in audits; never derived from its text.
        text: The words. Confidential, so they are in no repr.
        method: How it is enforced.
        where: Metadata keys and the values for which it holds; all must match.
        unless: Alternatives of attributes: it binds no principal who has all of one.
        always: Holds for every passage, without binding or ranking.
        where_missing: Whether it holds where a key of `where` is missing or empty.
        sensitivity: How much the local engine hides for it, where it has its own.
        keep: What stays; nothing else takes a finding away.
        examples: What its author showed; both engines learn from them what it means.
        patterns: Those of the policy that it names.
        instead: How coarse values may be said that it hides.
    """

    id: str
    text: str
    method: Method = "redact"
    where: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: _NOTHING)
    unless: Sequence[Mapping[str, tuple[Any, ...]]] = ()
    always: bool = False
    where_missing: WhereMissing = "hold"
    sensitivity: Sensitivity | None = None
    keep: tuple[Keep, ...] = ()
    examples: tuple[Example, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    instead: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.id or not self.text.strip():
            raise UsageError("A constraint needs an id and a text.")
        alternatives = self.unless
        if isinstance(alternatives, Mapping):
            alternatives = (alternatives,)
        object.__setattr__(self, "where", dict(self.where))
        object.__setattr__(self, "unless", tuple(map(dict, alternatives)))

    def __repr__(self) -> str:
        return f"Constraint(id={self.id!r}, method={self.method!r})"


@dataclass(frozen=True, slots=True)
class Mention:
    """
    Something of a known type that a detector found in a text.

    Args:
        span: Where it is.
        type: An upper-case name such as `PERSON` or `DATE`.
        confidence: From 0 to 1.
        reason: The rule or model that found it, never the value.
    """

    span: Span
    type: str
    confidence: float = 1.0
    reason: str = ""

    def __post_init__(self) -> None:
        if not 0.0 <= self.confidence <= 1.0:
            raise UsageError(f"Confidence {self.confidence} is not from 0 to 1.")


@dataclass(frozen=True, slots=True, repr=False)
class Entity(Confidential):
    """
    One thing in the world, as it is named across documents.

    Args:
        id: Opaque; keyed, never a bare hash of the value.
        type: As in `Mention`.
        forms: Every surface form it was seen under, the canonical one first.
        relevance: How much it says about the person, from 0 to 1.
    """

    id: str
    type: str
    forms: tuple[str, ...]
    relevance: float = 1.0

    def __repr__(self) -> str:
        return f"Entity(id={self.id!r}, type={self.type!r}, {len(self.forms)} forms)"


@dataclass(frozen=True, slots=True)
class Finding:
    """
    A span that a constraint withholds, and who says so.

    Args:
        span: Where, in the passage's own text.
        constraint_id: Which constraint.
        reason: How it was found, as a code; `sdrag.explanation.FOUND_BY` says them.
        confidence: From 0 to 1.
        type: Of the mention that it is, where a type was asked for.
    """

    span: Span
    constraint_id: str
    reason: str = "local"
    confidence: float = 1.0
    type: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Redaction(Confidential):
    """
    A passage after disclosure control.

    Args:
        passage: What may leave; `None` when the whole passage is withheld.
        passage_id: Of the passage, or an alias where the id may not be shown.
        constraint_ids: The constraints that took something out.
        spans: How many stretches of text were replaced.
        reason: Why it was withheld, as a short code; empty otherwise.
        types: What each stretch was, as in a `Decision`.
        values: Of numbered placeholders; those that may stand in the answer.
    """

    passage: Passage | None
    passage_id: str
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0
    reason: str = ""
    values: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    types: tuple[str, ...] = ()

    def __repr__(self) -> str:
        state = "withheld" if self.passage is None else f"{self.spans} spans"
        return f"Redaction({state})"


@dataclass(frozen=True, slots=True, repr=False)
class Highlight(Confidential):
    """A verbatim stretch of a passage that was verified against it."""

    passage_id: str
    span: Span
    text: str
    score: float = 100.0

    def __repr__(self) -> str:
        return f"Highlight({len(self.text)} characters, score={self.score})"


@dataclass(frozen=True, slots=True)
class Principal:
    """
    The end user for whom something is asked.

    Args:
        id: The user or service, as the host knows it.
        tenant: The organisation it belongs to.
        roles: What it may act as.
        level: Its clearance; higher sees more.
        attributes: Whatever else the host's rules look at.
    """

    id: str
    tenant: str | None = None
    roles: frozenset[str] = frozenset()
    level: int = 0
    attributes: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def __post_init__(self) -> None:
        roles: object = self.roles
        if isinstance(roles, str):
            raise UsageError("A principal's roles are a collection, not one string.")
        object.__setattr__(self, "roles", frozenset(self.roles))
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))


@dataclass(frozen=True, slots=True)
class Decision:
    """
    What was decided on a passage or an answer, and by which rule; no content.

    Args:
        subject: A passage id, or `answer`.
        action: What was done.
        rule: The guard or step that decided, such as `disclosure` or `access`.
        reason: A short code, such as `no-principal` or `model-timeout`.
        constraint_ids: The constraints that were applied.
        spans: How many stretches of text were replaced.
        types: What each of them was, as its placeholder says it, such as `person`, or
            `other`; empty where a model rephrased the text.
    """

    subject: str
    action: Action
    rule: str
    reason: str = ""
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0
    types: tuple[str, ...] = ()
