"""
What becomes of each passage once it is known what was found in it.

Findings are kept raw, so they are propagated here: what was found in the text and what
its document's register knows again are united and widened to whole words. A word is cut
whole or not at all, so no cut can lay a form bare that stood inside a word, whichever
of the constraints are enforced. What comes of it is remembered by this process.

A passage is withheld when a constraint that holds for it could not be decided, or when
a constraint of the method `withhold` takes something out of it. A metadata value that
cannot be decided is left out; its passage stays. All of it is a function of the
passage, what is known of it and the constraints that are enforced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sdrag.disclosure.cut import (
    WITHHOLD_ALL,
    PlaceholderStyle,
    RedactedText,
    Replacements,
    Taken,
    cut,
)
from sdrag.disclosure.lookup import Lookup
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts, rewrite_strings
from sdrag.privacy.identities import alias
from sdrag.state.register import DENSE, Register
from sdrag.text.decoding import is_packed
from sdrag.text.folding import fold
from sdrag.text.readings import readings
from sdrag.text.spans import merge, splice, widen_each
from sdrag.vocabulary import (
    EVIDENCE_KEY,
    Action,
    Confidential,
    Decision,
    Passage,
    Redaction,
    Span,
)

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

_Closed = Mapping[Span, frozenset[bytes]]
"""Spans, and the keys of the rules that take each."""


def propagate(
    text: str, spans: Mapping[bytes, Iterable[Span]], register: Register
) -> dict[Span, frozenset[bytes]]:
    """Return all that rules take from a text: the spans, and the rules of each."""
    matches = [(span, {rule}) for rule, each in spans.items() for span in each]
    if register:
        matches += [(span, {*rules}) for rules, span in register.find(readings(text))]
    closed: dict[Span, frozenset[bytes]] = {}
    whole_words = widen_each(text, (span for span, _ in matches))
    for span, (_, rules) in zip(whole_words, matches, strict=True):
        closed[span] = closed.get(span, frozenset()) | rules
    return closed


def find_disguised(
    text: str, taken: Mapping[Span, frozenset[bytes]], register: Register
) -> frozenset[bytes]:
    """
    Return the rules a form of which a path, an address or an id holds all the same.

    `Ann%20Lee`, `ann_lee`, `AnnLee7` and, for longer forms, `annlee` are spellings of
    one name; what holds one is never shown, since it cannot be cut without a trace.
    """
    spelt = _spelt(text, register) if register else frozenset[bytes]()

    def without(rule: bytes) -> str:
        spans = merge(span for span, rules in taken.items() if rule in rules)
        return splice(text, spans, lambda span: _BLANK * len(span))

    return frozenset(rule for rule in spelt if rule in _spelt(without(rule), register))


def _spelt(text: str, register: Register) -> frozenset[bytes]:
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


@dataclass(frozen=True, repr=False)
class Enforcement(Confidential):
    """
    What is known of all texts of a request, and what is enforced.

    Args:
        lookup: The texts, and what was found in them.
        applied: The constraints enforced on each passage, in the policy's order.
        rephrased: What a model made of passages, in place of the cuts.
        failed: Why a constraint is enforced by cuts where a model was to rephrase.
    """

    lookup: Lookup
    applied: Sequence[tuple[str, ...]]
    rephrased: Mapping[int, RedactedText] = field(default_factory=dict)
    failed: Mapping[tuple[int, str], str] = field(default_factory=dict)
    _cuts: dict[tuple[int, tuple[str, ...]], RedactedText] = field(default_factory=dict)
    _taken: dict[int, Taken] = field(default_factory=dict)

    @property
    def texts(self) -> Texts:
        """As retrieved."""
        return self.lookup.texts

    @property
    def setup(self) -> DisclosureSetup:
        """The engine."""
        return self.lookup.setup

    @cached_property
    def registers(self) -> Mapping[bytes, Register]:
        """What is to be known again, by the documents' keys."""
        return self.setup.state.findings.registers(self.lookup.documents)

    @cached_property
    def marks(self) -> PlaceholderStyle:
        """What stands in place of what constraints take."""
        section, placeholders = self.setup.policy.disclosure, self.setup.placeholders
        return PlaceholderStyle.of(self.texts.constraints, section, placeholders)

    def cut_of(self, index: int) -> RedactedText:
        """Return what is left of the passage at `index`."""
        if index in self.rephrased:
            return self.rephrased[index]
        return self._cut(index, self.applied[index])

    def cut_before(self, index: int, names: Sequence[str]) -> RedactedText:
        """Return what the named constraints leave of the passage."""
        return self._cut(index, tuple(n for n in self.applied[index] if n in names))

    def string_of(self, index: int, text_index: int) -> str | None:
        """Return what is left of a metadata string of the passage, if it may leave."""
        names = self.applied[index]
        packed = names and is_packed(self.texts.all[text_index].text)
        if packed or self._doubt(text_index, names):
            return None
        redacted = self._cut(text_index, names)
        if self._withholds(redacted):
            return None
        return redacted.text

    def taken(self, text_index: int) -> Taken:
        """Return what constraints take from a text."""
        if text_index not in self._taken:
            closed = self._closed(text_index).items()
            named = ((span, self.named(rules)) for span, rules in closed)
            self._taken[text_index] = {span: names for span, names in named if names}
        return self._taken[text_index]

    def marks_of(self, text_index: int) -> PlaceholderStyle:
        """Return the marks of the document that a text belongs to."""
        document = self.lookup.documents[text_index]
        return self.marks.of_document(self.setup.state.keys.of_document(document))

    def handle(self, index: int) -> bytes:
        """Return the key of the document of a passage."""
        return self.lookup.documents[index]

    def hidden(self, index: int) -> dict[str, frozenset[str]]:
        """Return the id and plain values that must not be shown, and by which."""
        by_leaf = {
            leaf: self._holding(index, leaf) for leaf in self.texts.leaves[index]
        }
        enforced = frozenset(self.applied[index])
        return {leaf: by for leaf, by in by_leaf.items() if by & enforced}

    def taking(self, index: int) -> set[str]:
        """Return the ids of all constraints that take something out of a passage."""
        names: set[str] = set()
        for text_index in (index, *self.texts.string_indices[index].values()):
            names = names.union(*self.taken(text_index).values())
        for leaf in self.texts.leaves[index]:
            names |= self._holding(index, leaf)
        return names

    def why_withheld(self, index: int) -> str:
        """Return the reason's code; empty for none."""
        for name in self.applied[index]:
            if name in self.setup.blanket_rules:
                return self.setup.blanket_rules[name]
        redacted = self.cut_of(index)
        if self._withholds(redacted):
            return "withheld-by-constraint"
        if doubt := self._doubt(index, self.applied[index]):
            return doubt
        return "" if redacted.text is not None else "still-present"

    def why_without_model(self, index: int) -> str:
        """Return why the local engine decided in a model's place; empty for none."""
        failures = {**self.failed, **self.lookup.fallbacks}
        codes = (failures.get((index, name)) for name in self.applied[index])
        return next(filter(None, codes), "")

    def _withholds(self, redacted: RedactedText) -> bool:
        rules = self.lookup.constraints
        return any(rules[name].method == "withhold" for name in redacted.constraint_ids)

    def _closed(self, text_index: int) -> _Closed:
        """Return what rules take from a text, worked out once in a process."""
        made_of = self._made_of(text_index)
        memo = self.setup.state.cuts
        known: _Closed | None = memo.get(made_of) if made_of else None
        if known is None:
            known = self._close(text_index, self._register(text_index))
            if made_of:
                memo.put(made_of, known)
        return known

    def _made_of(self, text_index: int) -> tuple[object, ...]:
        """Return the hashes of what is known of a text; empty to remember nothing."""
        lookup = self.lookup
        key = lookup.keys[text_index]
        # What is not kept in the state has no tag: it is of this request alone.
        tags = tuple(sorted(row.tag for row in lookup.known.get(key, ())))
        return (key, self._register(text_index).stamp, tags) if all(tags) else ()

    def _close(self, text_index: int, register: Register) -> _Closed:
        text = self.texts.all[text_index].text
        spans_of = self.lookup.spans_of(text_index)
        taken = propagate(text, spans_of, register)
        if text_index >= len(self.texts.passages):
            # A string that holds a form in disguise goes whole.
            taken[WITHHOLD_ALL] = find_disguised(text, taken, register)
        return taken

    def _holding(self, index: int, leaf: str) -> frozenset[str]:
        """Return the constraints a form of which an id or a plain value holds."""
        state, document = self.setup.state, self.handle(index)
        register = self._register(index)
        made_of = (state.keys.text(document, "leaf", leaf), register.stamp)
        rules: frozenset[bytes] | None = state.cuts.get(made_of)
        if rules is None:
            rules = find_disguised(leaf, {}, register)
            state.cuts.put(made_of, rules)
        return self.named(rules)

    def _register(self, text_index: int) -> Register:
        return self.registers[self.lookup.documents[text_index]]

    def named(self, rules: frozenset[bytes]) -> frozenset[str]:
        """Return the ids of constraints of the policy."""
        named = self.lookup.names
        return frozenset(name for rule in rules for name in named.get(rule, ()))

    def _cut(self, text_index: int, names: tuple[str, ...]) -> RedactedText:
        redacted = self._cuts.get((text_index, names))
        if redacted is None:
            text = self.texts.all[text_index].text
            redacted = self._replacements(text_index, names).apply(text)
            self._cuts[text_index, names] = redacted
        return redacted

    def _replacements(self, text_index: int, names: tuple[str, ...]) -> Replacements:
        """Return what constraints replace in a text, worked out once in a process."""
        lookup, marks = self.lookup, self.marks
        rules = (part for name in names for part in (name, lookup.rules[name].hex()))
        placed = (marks.style, *rules)
        hashes = self._made_of(text_index)
        made_of = (*hashes, self.setup.state.keys.of("cut", *placed))
        known: Replacements | None = None
        if hashes:
            known = self.setup.state.cuts.get(made_of)
        if known is None:
            text = self.texts.all[text_index].text
            known = cut(text, self.taken(text_index), names, self.marks_of(text_index))
            if hashes:
                self.setup.state.cuts.put(made_of, known)
        return known

    def _doubt(self, text_index: int, names: Sequence[str]) -> str:
        codes = (self.lookup.doubts.get((text_index, name)) for name in names)
        return next(filter(None, codes), "") if self.lookup.doubts else ""


def release(enforcement: Enforcement, index: int) -> Redaction:
    """Decide on the passage at `index`."""
    public = _alias_of(enforcement, index)
    reason = enforcement.why_withheld(index)
    redacted = enforcement.cut_of(index)
    names, spans = redacted.constraint_ids, redacted.spans
    if reason or redacted.text is None:
        closed = enforcement.setup.blanket_rules
        every = (*(n for n in enforcement.applied[index] if n in closed), *names)
        return Redaction(None, public, tuple(dict.fromkeys(every)), spans, reason)
    metadata = _metadata(enforcement, index)
    taking = enforcement.taking(index).union(names)
    if evident := [name for name in enforcement.applied[index] if name in taking]:
        metadata[EVIDENCE_KEY] = {
            "constraints": evident,
            "spans": spans,
            "document": enforcement.handle(index).hex(),
        }
    passage = Passage(
        public,
        redacted.text,
        metadata,
        enforcement.texts.passages[index].score,
    )
    return Redaction(
        passage, public, names, spans, enforcement.why_without_model(index)
    )


def _alias_of(enforcement: Enforcement, index: int) -> str:
    identity = enforcement.texts.passages[index].id
    closed = not enforcement.setup.blanket_rules.keys().isdisjoint(
        enforcement.applied[index]
    )
    if closed or identity in enforcement.hidden(index):  # closed: all of it is a secret
        return alias(identity, enforcement.setup.key)
    return identity


def _metadata(enforcement: Enforcement, index: int) -> dict[str, Any]:
    strings, hidden = (
        enforcement.texts.string_indices[index],
        enforcement.hidden(index),
    )

    def rewrite(value: str) -> str | None:
        text_index = strings.get(value)
        if text_index is not None:
            return enforcement.string_of(index, text_index)
        return None if value in hidden else value

    read = rewrite_strings(enforcement.texts.metadata[index], rewrite)
    return {**read, **enforcement.texts.verbatim[index]}


def withhold(identity: str, reason: str) -> Redaction:
    """Withhold a passage before it was read."""
    return Redaction(None, identity, reason=reason)


def record_decision(redaction: Redaction) -> Decision:
    """Say what became of a passage, without content."""
    action: Action = "redacted" if redaction.spans else "released"
    return Decision(
        subject=redaction.passage_id,
        action="withheld" if redaction.passage is None else action,
        rule="disclosure",
        reason=redaction.reason,
        constraint_ids=redaction.constraint_ids,
        spans=redaction.spans,
    )
