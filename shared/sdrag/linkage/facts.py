"""
What a text tells that can link it to another, and by what each fact is known again.

A text is read as it is and decoded, as everything else reads it. A stretch that may be
a code, a date or a telephone number is known by all that it may be; 05/04 is the fourth
of May and the fifth of April; `a.karlsson@fjord.example` is an address and names a
Karlsson. So a fact is known by several things, and two facts are one if they share any.

What identifies by itself is a form: it is known again wherever the state's register
finds it, in every reading of a text, also where no detector sees it. Everyday words,
given names, dates and descriptions are not searched for: they have to be detected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sdrag.detectors import Detector, detect_each
from sdrag.detectors.local.tables import first_names, is_common
from sdrag.effects.steps import Steps, replied, try_each
from sdrag.linkage.mentions import find_descriptions, longest
from sdrag.linkage.pairs import canonical
from sdrag.linkage.schema import Schema
from sdrag.policy.sections import Role
from sdrag.state.keys import DocumentKeys
from sdrag.state.register import Form, Register, make_forms
from sdrag.text.decoding import decode
from sdrag.text.mapped import MappedText
from sdrag.text.names import family_names
from sdrag.text.readings import readings
from sdrag.vocabulary import Confidential, Mention, Span

_LEAST = 0.3
"""What contributes less links nothing."""
_SOUGHT = frozenset({"name", "number", "phone", "exact", "place", "organisation"})
_WORD = re.compile(r"[^\W\d_]{3,}")
_WITH_INITIAL = 6
"""So many letters may be an initial and a family name: akarlsson."""

Facts = Mapping[str, float]
"""What each fact contributes to the risk, from 0 to 1, by its key."""
Value = tuple[Role, str]
"""What ways to write a fact have in common, and what it is then."""


@dataclass(frozen=True, slots=True, repr=False)
class Fact(Confidential):
    """
    What can link a text to another.

    Args:
        span: Where it is.
        type: As the detector calls it; empty where only the register knows it.
        key: Hashes of all that it is known by, apart by spaces.
        contribution: To the risk, from 0 to 1.
    """

    span: Span
    type: str
    key: str
    contribution: float


@dataclass(frozen=True, slots=True, repr=False)
class FactReader(Confidential):
    """
    Reads what texts tell.

    Args:
        keys: Of the session: no two sessions share a hash.
    """

    detector: Detector
    schema: Schema
    keys: DocumentKeys

    def read(self, texts: Sequence[str]) -> Steps[list[list[Fact]]]:
        """Find the facts of each text; what keeps one from being read is raised."""
        views = [
            (number, view)
            for number, views in enumerate(try_each(_views, texts))
            for view in replied(views)
        ]
        outcomes = yield from detect_each(self.detector, [v.text for _, v in views])
        facts: list[dict[Fact, None]] = [{} for _ in texts]
        for (number, view), outcome in zip(views, outcomes, strict=True):
            mentions = replied(outcome)
            facts[number] |= dict.fromkeys(self._facts(view, mentions))
        return [*map(list, facts)]

    def recognize(self, texts: Sequence[str], known: Facts) -> list[list[Fact]]:
        """Find known facts in each text by their forms, in all its readings."""
        forms: dict[Form, set[bytes]] = {}
        for key in known:
            for form in _forms(key):
                forms.setdefault(form, set()).add(key.encode())
        if not forms:
            return [[] for _ in texts]
        register = Register(forms, self.keys)
        return [
            [
                Fact(span, "", key.decode(), known[key.decode()])
                for keys, span in register.find_forms(readings(text))
                for key in keys
            ]
            for text in texts
        ]

    def _facts(self, view: MappedText, mentions: Sequence[Mention]) -> Iterator[Fact]:
        """Yield what tells enough; a stretch is all that it is detected as."""
        types: dict[Span, list[str]] = {}
        for mention in mentions:
            types.setdefault(mention.span, []).append(mention.type)
        schema = self.schema
        for mention in (*longest(mentions), *find_descriptions(view.text)):
            sure, type_ = mention.confidence, schema.canonical(mention.type)
            contribution = sure * schema.weight(type_)
            if contribution < _LEAST or sure < schema.settings.min_confidence:
                continue
            names = [mention.type, *types.get(mention.span, ())]
            form = mention.span.of(view.text)
            values = {v for name in names for v in self._values(form, name)}
            if key := " ".join(sorted({k for v in values for k in self._known_by(*v)})):
                span = view.span(mention.span.start, mention.span.end)
                yield Fact(span, mention.type, key, contribution)

    def _values(self, form: str, name: str) -> Iterator[Value]:
        role = self.schema.role(self.schema.canonical(name))
        if role == "name":
            yield from ((role, family) for family in _families(form))
            return
        for value in canonical(form, role):
            yield role, value
        if role in {"number", "phone"}:
            yield role, form
        if role == "exact":
            yield from (("name", word) for word in _find_named(form))

    def _known_by(self, role: Role, value: str) -> Iterator[str]:
        """Yield the hashes of a value: of its forms, or of the value itself."""
        common = " " not in value and is_common(value)
        given = role == "name" and value.capitalize() in first_names()
        if role in _SOUGHT and not common and not given:
            for form in make_forms(value, self.keys):
                yield ":".join(map(str, form))
        else:
            yield self.keys.of("fact", f"{role} {value}")


def unite(shown: Mapping[bytes, Facts]) -> dict[bytes, Facts]:
    """Give facts that are known by the same one key, in all documents."""
    parents: dict[str, str] = {}

    def root(hashed: str) -> str:
        while (parent := parents.setdefault(hashed, hashed)) != hashed:
            parents[hashed] = hashed = parents.setdefault(parent, parent)
        return hashed

    every = {key: key.split(" ") for facts in shown.values() for key in facts}
    for first, *others in every.values():
        for other in others:
            parents[root(other)] = root(first)
    united: dict[bytes, Facts] = {}
    for document, facts in shown.items():
        held: dict[str, float] = {}
        for key, contribution in facts.items():
            name = root(every[key][0])
            held[name] = max(held.get(name, 0.0), contribution)
        united[document] = held
    return united


def _views(text: str) -> tuple[MappedText, ...]:
    """Return a text as it is and, where anything is encoded, decoded."""
    plain, decoded = MappedText.of(text), decode(text)
    return (plain,) if decoded.before is None else (plain, decoded)


def _forms(key: str) -> Iterator[Form]:
    """Yield the forms among what a fact is known by."""
    for hashed in key.split(" "):
        digest, _, shape = hashed.partition(":")
        if shape:
            length, _, words = shape.partition(":")
            yield Form(digest, int(length), int(words))


def _families(form: str) -> Iterator[str]:
    """Yield the family name of a person; both ends where a given name comes last."""
    first, family = family_names(form)
    yield family
    if first and family.capitalize() in first_names():
        yield first


def _find_named(address: str) -> Iterator[str]:
    """Yield whom an e-mail address or an account may name."""
    words = _WORD.findall(address.lower().partition("@")[0].partition("+")[0])
    inner = [word[1:] for word in words if len(word) >= _WITH_INITIAL]
    yield from (word for word in (*words, *inner) if not is_common(word))
