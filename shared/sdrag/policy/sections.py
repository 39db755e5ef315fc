"""
The sections of the policy file, one class each: frozen, and closed to unknown keys.

Everything has a default. A guard that could empty a host's results is optional in
`Policy`: off until its section is in the file, and strict from then on.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    field_validator,
    model_validator,
)

from sdrag.sections import Count, Levels, MetadataKey, Section, Share
from sdrag.vocabulary import EVIDENCE_KEY, Sensitivity

Role = Literal[
    "name",
    "number",
    "phone",
    "exact",
    "date",
    "age",
    "place",
    "organisation",
    "term",
    "description",
]
"""
How values of a type of entity are compared: names of people; identifiers; telephone
numbers; what is compared letter by letter, such as an e-mail address; dates; ages;
places; organisations, and doctors among them; terms, such as diagnoses; and
descriptions in words.
"""
RecogniserName = Literal[
    "accounts",
    "addresses",
    "ages",
    "amounts",
    "bank-accounts",
    "cells",
    "coordinates",
    "counts",
    "credentials",
    "date-ranges",
    "dates",
    "degrees",
    "domains",
    "embedded-names",
    "fields",
    "identity-numbers",
    "introductions",
    "ipv6-addresses",
    "later-forms",
    "learned-names",
    "links",
    "long-numbers",
    "machine-addresses",
    "mail-addresses",
    "mixed-codes",
    "names",
    "number-plates",
    "numbered",
    "owned-streets",
    "parts-of-the-body",
    "peoples",
    "phone-numbers",
    "postcodes",
    "role-names",
    "sizes",
    "sums",
    "terms",
    "times",
]
"""The rows of `RECOGNISERS` in `sdrag.detectors.local.recognisers`."""
RankBy = Literal["concatenated", "query", "maximum", "average", "weighted_average"]


WITHHELD = "[withheld]"
"""The mark of what is cut by its meaning, and of merged marks of two types."""
NOUNS: dict[str, tuple[str, str]] = tomllib.loads(
    files(__package__).joinpath("marks.toml").read_text("utf-8")
)
"""What each mark says, with the form and the types of what it replaces."""


class DisclosureSection(Section):
    """How constraints are bound, ranked and enforced (SD-RAG, section III-C)."""

    bind_top_n: Count = 50
    """A constraint is bound to so many chunks, the most similar ones."""
    similarity_floor: Share = 0.35
    """It is also bound to every chunk of at least this cosine similarity."""
    document_keys: tuple[str, ...] = ()
    """Metadata keys that name the document of a chunk, where the framework does not;
    the first that it has counts."""
    top_k: Count | None = None
    """The most constraints that a question applies, the best of a ranking; the audit
    names the others."""
    rank_by: RankBy = "weighted_average"
    """That ranking (SD-RAG, section IV-C2)."""
    with_model: Literal["confirm", "union"] = "confirm"
    """What frees, with a model, what the local engine alone detects: an explicit no of
    the model (`confirm`), or nothing (`union`)."""
    on_model_failure: Literal["local", "withhold"] = "local"
    """Where a model gives no usable verdict, the `local` engine decides, or the passage
    is withheld (`withhold`)."""
    max_calls: Count = 2
    """The most prompts that ask again about one text, in ever smaller parts."""
    batch_size: Count = 4
    """The most constraints in one prompt."""
    small_model: bool | Literal["auto"] = "auto"
    """`true` asks about one constraint and a sentence or two at a time, only where a
    constraint must be understood, and frees nothing; `auto` leaves out a model that
    fails control questions."""
    token_budget: Annotated[int, Field(ge=64)] = 4000
    """The most tokens of text in one prompt."""
    placeholders: Literal["type", "numbered", "plain"] = "type"
    """What replaces a span: `type`, such as `[person]` or `[withheld]`; `numbered`,
    such as `[person-48213370]`, the same for the same words of a document; `plain`, the
    `placeholder`."""
    placeholder: Annotated[str, Field(min_length=1, max_length=40)] = "[REDACTED]"
    """The mark of `plain`, which it implies."""
    restore: bool = False
    """Passages are redacted for everybody, and `Restore` gives the values in the answer
    to whom `unless` exempts. It implies numbered placeholders and needs the extra
    `linkage`."""
    sensitivity: Sensitivity = "balanced"
    """Of the local engine: higher, recall rises, and so does over-redaction."""
    recognisers_off: tuple[RecogniserName, ...] = ()
    """Recognisers of the local engine that do not run; `sdrag check --recognisers`
    lists them."""
    on_guess: Literal["cut", "decline"] = "cut"
    """Where an answer mentions what the context does not hold, of a type that a
    constraint asks for: `cut` it, or `decline` the answer."""
    influence: Literal["ranking", "none"] = "ranking"
    """What hidden words may decide: the `ranking` of passages, or nothing (`none`):
    only an index that a `RedactingTransformer` filled under this policy is searched,
    without the question's hidden words."""
    local_seconds: Annotated[float, Field(gt=0)] | None = None
    """For how long the local engine reads unread passages at a request, the shortest
    first; it finishes the one that it is at. The rest is withheld, with its documents,
    and the next request goes on there."""
    timeout_seconds: Annotated[float, Field(gt=0)] = 60.0
    """The most seconds of one call of a model and, up to 30, of waiting for a locked
    state."""

    @property
    def mark(self) -> str:
        """What stands in place of words of which no type is known."""
        return self.placeholder if self.placeholders == "plain" else WITHHELD

    @property
    def limited(self) -> bool:
        """Whether a question chooses which constraints are enforced."""
        return self.top_k is not None

    @model_validator(mode="after")
    def _no_number_of_what_is_hidden(self) -> Self:
        if self.influence == "none" and self.placeholders == "numbered":
            raise ValueError("with influence: none, placeholders are not numbered")
        if self.restore and self.placeholders != "numbered":
            raise ValueError("restore needs numbered placeholders")
        return self

    @model_validator(mode="before")
    @classmethod
    def _a_mark_is_meant(cls, values: Any) -> Any:
        """Read a `placeholder` alone as a wish for it, or nobody would ever see it."""
        if isinstance(values, Mapping) and "placeholder" in values:
            return {"placeholders": "plain", **values}
        if isinstance(values, Mapping) and values.get("restore"):
            return {"placeholders": "numbered", **values}
        return values


class HighlightSection(Section):
    """Highlight & Summarize: what may reach the summarizer, and what it may say."""

    min_words: Count = 5
    """The fewest words of a highlight that is cut at words."""
    min_sentence_words: Count = 3
    """The fewest words of a highlight that is cut at sentences."""
    threshold: Annotated[float, Field(ge=0.0, le=100.0)] = 95.0
    """The least rapidfuzz ratio of a near match; 100 takes exact ones only."""
    max_passages: Count = 6
    """How many of the retrieved passages are read."""
    max_highlights: Count = 20
    """The most highlights of one answer."""
    cut_at: Literal["words", "sentences"] = "sentences"
    """Where a highlight may begin and end: at any word, or at whole sentences, with
    those that say how they are meant."""
    answer_sentences: Annotated[int, Field(ge=1, le=20)] = 2
    """The most sentences of an answer."""
    grounded: bool = True
    """Whether highlights that do not support the model's summary are the answer in its
    place. A stream waits for the check."""
    max_questions: Annotated[int, Field(ge=1, le=8)] = 1
    """The most questions of one message that are answered apart; the rest goes with the
    last."""
    yes_no: bool = False
    """Whether the model's summarizer is told that a yes or a no is asked for, and
    which."""
    min_similarity: Share | Literal[False] = False
    """The least cosine similarity of the question and one that the summarizer guessed;
    below, it is declined."""
    decline_text: Annotated[str, Field(min_length=1, max_length=2_000)] = (
        "I cannot answer this from the documents I have."
    )
    """What the end user reads when nothing can be answered."""

    @property
    def least_words(self) -> int:
        """The fewest words of a highlight, by where it is cut."""
        return self.min_words if self.cut_at == "words" else self.min_sentence_words


_TYPES = tomllib.loads(
    files(__package__).joinpath("entity_types.toml").read_text("utf-8")
)
WEIGHTS: Mapping[str, float] = _TYPES["weights"]
"""Entity types and their risk weights, Table 4.1."""
ROLES: Mapping[str, Role] = {
    name: role for role, names in _TYPES["roles"].items() for name in names
}
"""The roles of these types; a type of no role is a description."""
SYNONYMS: Mapping[str, str] = {
    name: type_ for type_, row in _TYPES["synonyms"].items() for name in row
}
"""What detectors call these types."""


class ByRisk(Section):
    """A number for each category of risk above LOW."""

    high: Share
    """For HIGH."""
    medium: Share
    """For MEDIUM."""


class ResolutionSection(Section):
    """How forms are resolved to entities; a step that is `false` is not taken."""

    names: bool = True
    """Compare names of people part by part, with nicknames and initials."""
    dates: bool = True
    """Compare dates by what they say, however they are written."""
    numbers: bool = True
    """Compare identifiers by their digits and letters."""
    meaning: Share | Literal[False] = 0.56
    """The least cosine similarity of two descriptions."""
    terms: Share | Literal[False] = 0.68
    """That of two medical terms."""
    context: Share | Literal[False] = 0.38
    """That of two discriminative descriptions in their context, each among the nearest
    of the other. It needs `meaning`."""
    telling: Share = 0.5
    """The least relevance, in some document, of a discriminative description."""


class LinkageSection(Section):
    """CLAM, with the thesis's chapter 5 configuration as defaults."""

    chain_length: Annotated[int, Field(ge=2, le=8)] = 2
    """The most documents in a chain."""
    min_confidence: Share = 0.0
    """What a detector is less sure of links nothing, and is not masked."""
    edge_threshold: Share = 0.5
    """The least weight of a link of two documents (section 4.3)."""
    max_document_risk: Share = 0.95
    """The most risk that a document may keep."""
    max_chain_risk: Share = 0.5
    """The most risk that a chain may keep."""
    chain_risk_factor: ByRisk = ByRisk(high=0.5, medium=0.7)
    """The share of its risk (rho) that a chain may keep, by category."""
    risk_thresholds: ByRisk = ByRisk(high=0.75, medium=0.5)
    """The least risk of a chain of each category."""
    select: Literal["document", "greedy", "knapsack"] = "knapsack"
    """How the entities to mask are chosen: in each `document` alone, or for each chain
    too, `greedy` or by a `knapsack`."""
    replace: Literal["label", "redact", "pseudonym", "rewrite"] = "label"
    """What replaces a masked entity: a `label`, numbered if there is a key; `redact`; a
    `pseudonym`; or `rewrite` by a model."""
    instead: Levels = ()
    """With `label`: how coarse a masked value is said, as `instead` of a constraint,
    but not what is masked to break a chain."""
    domain: Annotated[str, Field(min_length=1, max_length=300)] | None = None
    """What the documents are about, for a model: `a school: pupils and their parents`;
    by default, health insurance (Table 4.1)."""
    weights: dict[str, Share] | None = None
    """The weight of each type; replaces Table 4.1 for another domain."""
    roles: dict[str, Role] | None = None
    """How values of each type are compared; without a role, as descriptions."""
    default_weight: Share | None = 0.85
    """The weight of any other type; with null, another type is an error."""
    unmaskable: tuple[str, ...] = ()
    """Types that no plan may touch."""
    max_chains: Count = 1_000_000
    """The most chains of more than two documents; more are an error."""
    resolution: ResolutionSection = ResolutionSection()
    """Which surface forms are one entity."""

    @property
    def type_names(self) -> frozenset[str]:
        """Every type that a label may say."""
        return frozenset({*WEIGHTS, *ROLES, *(self.weights or ()), *(self.roles or ())})

    @field_validator("weights", "roles", "unmaskable")
    @classmethod
    def _upper(cls, value: Any) -> Any:
        """Write types in upper case, as they are compared."""
        if isinstance(value, dict):
            return {name.upper(): found for name, found in value.items()}
        return value and tuple(name.upper() for name in value)


class MetadataSection(Section):
    """What of a passage's metadata may leave; every other key is dropped."""

    allow: tuple[str, ...] = ()
    """Keys whose values leave, redacted like text, at every depth."""
    verbatim: tuple[str, ...] = ()
    """Keys whose values leave as they are, read by no constraint."""
    evidence: MetadataKey | None = EVIDENCE_KEY
    """The key of what was done to a released passage. With null an `AnswerGuard` cannot
    check what was withheld, and `HighlightAndSummarize` refuses passages."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key whose value may leave."""
        return tuple(dict.fromkeys((*self.allow, *self.verbatim)))

    @field_validator("allow", "verbatim")
    @classmethod
    def _no_loader_keys(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if {"lc", "__lc_escaped__"} & set(value):
            raise ValueError("loader keys may not leave (CVE-2025-68664)")
        return value

    @model_validator(mode="after")
    def _evidence_has_its_own_key(self) -> Self:
        if self.evidence in {*self.keys, "lc"}:
            raise ValueError("the key of `evidence` is no key that may leave")
        return self


class WithheldSection(Section):
    """What the chain learns of what was withheld."""

    notice: bool = False
    """If a model failed, one more passage says so. Where nothing leaves, the model is
    tried with one short prompt."""
    question: bool = False
    """With `disclosure.influence: none`: if words of the question were not used, one
    more passage says so."""


class SessionSection(Section):
    """
    How much of what links people one session may put together.

    The risk is that of CLAM's chains; `linkage` has their length and the weights.
    """

    max_risk: Annotated[float, Field(gt=0.0, le=1.0)] = 0.5
    """The risk of a chain that no session reaches; up to 1."""
    action: Literal["coarsen", "decline", "answer"] = "coarsen"
    """What happens to a passage with which one would: `coarsen` its facts to types,
    `decline` it, or `answer` and say so in the audit."""
    window_seconds: Annotated[float, Field(gt=0)] = 86_400.0
    """How long what was shown counts."""


class TracingSection(Section):
    """Whether tracers and callbacks may see what the inner calls saw."""

    inner: Literal["hidden", "shown"] = "hidden"
    """`hidden`: raw passages and inner prompts reach no tracer."""
