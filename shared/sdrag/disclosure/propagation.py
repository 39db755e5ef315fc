"""
What is to be known again of what was found, and what constraints take with it.

Names, codes and whatever else was found by its form or by a model go wherever they are
in their document, with the other forms of names; so does a rare word that surely tells
a secret. Any other word that was hidden for what it means there goes wherever the same
words are next to it. Forms are derived from names alone, and only for constraints that
speak of people: "Port Ellery" must not take every "Port" with it.

Findings are kept raw, so they are propagated here: what was found in a text and what
its document's register knows again are united and widened to whole words. A word is cut
whole or not at all, so no cut can lay a form bare that stood inside a word, whichever
of the constraints are enforced. It is cut to the cells of the text: no key, tag or
border of a cell goes with a value. What comes of it is remembered by this process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from sdrag.detectors.local.fields import is_label
from sdrag.detectors.local.learned import NamePlaces
from sdrag.detectors.local.tables import MONTHS, common_words
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.cut import WITHHOLD_ALL, Taken
from sdrag.disclosure.lookup import Located
from sdrag.disclosure.placeholder_style import with_titles
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts
from sdrag.state.keys import DocumentKeys
from sdrag.state.register import (
    DENSE,
    Form,
    Register,
    find_words,
    make_forms,
    make_word,
)
from sdrag.text.cells import clip, read_cells
from sdrag.text.folding import fold
from sdrag.text.names import name_forms, plurals
from sdrag.text.phrase_matcher import needs_case
from sdrag.text.readings import readings
from sdrag.text.spans import SpanUnion, merge, splice, widen_each
from sdrag.text.values import value_forms
from sdrag.vocabulary import Confidential, Constraint, Finding, Span

IN_PLACE = frozenset({"scored", "cue"})
"""Who finds words for what they mean where they are."""
_OF_PEOPLE = frozenset({"", "PERSON"})
"""Types whose parts are names too; an organisation's may be everyday words."""

_NAMES = frozenset({"LOCATION", "ORGANIZATION", "PERSON"})

_PEOPLE = re.compile(
    r"\b(?:names?|named|who|whom|whose|identit\w+|identif\w+|person\w*|people|wit"
    r"ness\w*|victims?|patients?|suspects?|perpetrators?|clients?|minors?|children"
    r"|anonym\w+)\b",
    re.IGNORECASE,
)
_SHORTEST = 3


def find_forms(
    text: str,
    findings: Sequence[Finding],
    constraint: Constraint,
    keys: DocumentKeys,
) -> set[Form]:
    """Return what is to be known again of one constraint's findings in a text."""
    forms: set[Form] = set()
    ranks = common_words()
    other = {
        f.span.of(text)
        for f in findings
        if f.type not in _NAMES and f.reason != "named"
    }
    for surface in find_surfaces(text, findings, constraint):
        # In small letters it says something else, too.
        everyday = surface.lower() in ranks or surface in MONTHS
        everyday = everyday and surface not in other
        forms.update(make_forms(surface, keys, everyday=everyday))
        if surface.lower() not in ranks:  # of an everyday word, the plural is one too
            for plural in plurals(surface):
                forms.update(make_forms(plural, keys, whole=True))
    there = [  # another split may cut a date in two, so its words are kept as well
        finding.span
        for finding in findings
        if finding.reason in IN_PLACE or " " in finding.span.of(text)
    ]
    if not there:
        return forms
    folded, hidden = fold(text), SpanUnion(there)
    places, words = find_words(folded)
    for index, (start, end) in enumerate(places):
        if hidden.overlaps(folded.span(start, end)):
            forms.add(make_word(words, index, keys))
            if len(words) == 1:
                forms.update(make_forms(words[0], keys))
    return forms


def find_surfaces(
    text: str, findings: Iterable[Finding], constraint: Constraint
) -> Iterator[str]:
    """Yield the forms that a constraint withholds throughout the document."""
    lasting = [finding for finding in findings if finding.reason not in IN_PLACE]
    known = {finding.span.of(text) for finding in lasting}
    known |= {form for surface in known for form in value_forms(surface)}
    people = "PERSON" in parse(constraint).types or _PEOPLE.search(constraint.text)
    if known and people:
        ranks = common_words()
        known |= {
            form
            for finding in lasting
            for form in name_forms(finding.span.of(text), ranks)
            if finding.type in _OF_PEOPLE or form.lower() not in ranks
        }
    yield from filter(lasts, known)


def lasts(form: str) -> bool:
    """Say whether a form may go wherever it is: "of" and "12", found once, may not."""
    word = form.strip().lower()
    if word.isdigit():
        return len(word) >= _SHORTEST
    return not (needs_case(form) and word in common_words())


_SEPARATORS = re.compile(r"[\W_]+")
_APART = re.compile(
    r"(?<=[^\W_])[\W_]{1,4}(?=[^\W_](?![^\W_]))"
    r"|(?<=(?<![^\W_])[^\W_])[\W_]{1,4}(?=[^\W_])"
)
"""What is before or after a single letter, in a word or not: `noteM e y e r sbook`."""
_BRIEF, _ACROSS = 500, 8
"""In so many characters, forms of so many letters are looked for across words too."""
_LONGEST = 5_000
"""Characters of a run without a space that is searched; a longer one is never shown."""
_BLANK = "\N{WHITE SQUARE}"


class _Propagated(NamedTuple):
    """The keys of the rules that take each span of a text, and of all that take one."""

    spans: Mapping[Span, frozenset[bytes]]
    rules: frozenset[bytes]


@dataclass(frozen=True, repr=False)
class Propagation(Confidential):
    """
    What constraints take from the texts of a request.

    Args:
        located: The texts, and what was found in them.
    """

    located: Located
    _taken: dict[int, Taken] = field(default_factory=dict)
    _propagated: dict[int, _Propagated] = field(default_factory=dict)
    _ids: dict[frozenset[bytes], frozenset[str]] = field(default_factory=dict)

    @property
    def texts(self) -> Texts:
        """As retrieved."""
        return self.located.known.texts

    @property
    def setup(self) -> DisclosureSetup:
        """The engine."""
        return self.located.known.setup

    @cached_property
    def _registers(self) -> Mapping[bytes, Register]:
        """What is to be known again, by the documents' keys."""
        known, findings = self.located.known, self.setup.state.findings
        tags = None if self.located.read else known.tags
        return findings.registers(known.documents, tags)

    @cached_property
    def _names(self) -> Mapping[bytes, list[str]]:
        names: dict[bytes, list[str]] = {}
        for name, rule in self.located.known.rules.items():
            names.setdefault(rule, []).append(name)
        return names

    def register_of(self, text_index: int) -> Register:
        """Return what is to be known again of the document of a text."""
        return self._registers[self.located.known.documents[text_index]]

    def name_rules(self, rules: frozenset[bytes]) -> frozenset[str]:
        """Return the ids of constraints of the policy."""
        if (known := self._ids.get(rules)) is None:
            known = frozenset(n for rule in rules for n in self._names.get(rule, ()))
            self._ids[rules] = known  # few sets take many spans
        return known

    def take(self, text_index: int) -> Taken:
        """Return what constraints take from a text."""
        if text_index not in self._taken:
            known = self._propagate(text_index).spans.items()
            named = ((span, self.name_rules(rules)) for span, rules in known)
            text, taken = self.texts.all[text_index].text, dict[Span, frozenset[str]]()
            for span, names in named:
                people = names & self.setup.of_people
                whole = with_titles(text, span) if people else span
                taken[whole] = taken.get(whole, frozenset()) | names
            self._taken[text_index] = {span: by for span, by in taken.items() if by}
        return self._taken[text_index]

    def name_taking(self, text_index: int) -> frozenset[str]:
        """Return the constraints that take something from a text."""
        return self.name_rules(self._propagate(text_index).rules)

    def take_leaf(self, index: int, leaf: str) -> frozenset[str]:
        """Return the constraints a form of which an id or a plain value holds."""
        state, document = self.setup.state, self.located.known.documents[index]
        register = self.register_of(index)
        made_of = (state.keys.text(document, "leaf", leaf), register.stamp)
        rules: frozenset[bytes] | None = state.cuts.get(made_of)
        if rules is None:
            rules = find_disguised(leaf, {}, register)
            state.cuts.put(made_of, rules)
        return self.name_rules(rules)

    def describe(self, text_index: int) -> tuple[object, ...]:
        """Return the hashes of what is known of a text; empty to remember nothing."""
        key = self.located.known.keys[text_index]
        # What is not kept in the state has no tag: it is of this request alone.
        tags = tuple(sorted(row.tag for row in self.located.rows.get(key, ())))
        return (key, self.register_of(text_index).stamp, tags) if all(tags) else ()

    def _propagate(self, text_index: int) -> _Propagated:
        """Return what rules take from a text, worked out once in a request."""
        if text_index not in self._propagated:
            self._propagated[text_index] = self._propagate_anew(text_index)
        return self._propagated[text_index]

    def _propagate_anew(self, text_index: int) -> _Propagated:
        """Return what rules take from a text, worked out once in a process."""
        made_of, memo = self.describe(text_index), self.setup.state.cuts
        known: _Propagated | None = memo.get(made_of) if made_of else None
        if known is None:
            text, register = (
                self.texts.all[text_index].text,
                self.register_of(text_index),
            )
            spans = propagate(text, self.located.spans_of(text_index), register)
            if text_index >= len(self.texts.passages):
                # A string that holds a form in disguise goes whole.
                spans[WITHHOLD_ALL] = find_disguised(text, spans, register)
            known = _Propagated(spans, frozenset().union(*spans.values()))
            if made_of:
                memo.put(made_of, known)
        return known


def propagate(
    text: str, spans: Mapping[bytes, Iterable[Span]], register: Register
) -> dict[Span, frozenset[bytes]]:
    """Return all that rules take from a text: the spans, and the rules of each."""
    matches = [(span, {rule}) for rule, each in spans.items() for span in each]
    if register:
        found = register.find(readings(text), NamePlaces().is_name)
        matches += [(span, {*rules}) for rules, span in found]
    propagated: dict[Span, frozenset[bytes]] = {}
    layout = read_cells(text) if matches else None
    whole_words = widen_each(text, (span for span, _ in matches))
    for whole, (_, rules) in zip(whole_words, matches, strict=True):
        for span in clip(layout, whole, _may_hide_key) if layout else ():
            propagated[span] = propagated.get(span, frozenset()) | rules
    return propagated


def _may_hide_key(key: str) -> bool:
    # Only what is known for a label stays, such as "surname": whoever writes a document
    # can put a colon behind anything.
    return not is_label(key)


def find_disguised(
    text: str, taken: Mapping[Span, frozenset[bytes]], register: Register
) -> frozenset[bytes]:
    """
    Return the rules a form of which a path, an address or an id holds all the same.

    `Ann%20Lee`, `ann_lee`, `AnnLee7` and, for longer forms, `annlee` are spellings of
    one name; what holds one is never shown, since it cannot be cut without a trace.
    """
    spelt = _find_spelt(text, register) if register else frozenset[bytes]()

    def without(rule: bytes) -> str:
        spans = merge(span for span, rules in taken.items() if rule in rules)
        return splice(text, spans, lambda span: _BLANK * len(span))

    return frozenset(
        rule for rule in spelt if rule in _find_spelt(without(rule), register)
    )


def _find_spelt(text: str, register: Register) -> frozenset[bytes]:
    read = readings(text)
    parted = (fold(_SEPARATORS.sub(" ", reading.text)) for reading in read)
    runs = {
        _SEPARATORS.sub("", token)
        for reading in read
        for token in (reading.text + "\n" + _APART.sub("", reading.text)).split()
    }
    if max(map(len, runs), default=0) > _LONGEST:  # it would take minutes to search
        return register.rules()
    rules = register.inside(runs, DENSE)
    if len(text) <= _BRIEF:
        whole = {_SEPARATORS.sub("", reading.text) for reading in read}
        rules |= register.inside(whole, _ACROSS)
    return rules.union(*(by for by, _ in register.find_forms((*read, *parted))))
