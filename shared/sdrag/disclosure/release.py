"""
What becomes of each passage once it is known what constraints take from it.

A passage is withheld when a constraint that holds for it could not be decided, or when
a constraint of the method `withhold` takes something out of it. A metadata value that
cannot be decided is left out; its passage stays, if the value was read. What was not
read puts all of its document in doubt. All of it is a function of the passage, what is
known of it and the constraints that are enforced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sdrag.disclosure.cut import (
    RedactedText,
    Replacements,
    cut,
    find_values,
)
from sdrag.disclosure.lookup import Doubts, Located
from sdrag.disclosure.placeholder_style import PlaceholderStyle
from sdrag.disclosure.plain_values import rewrite_values
from sdrag.disclosure.propagation import Propagation
from sdrag.disclosure.texts import Texts
from sdrag.privacy.identities import alias
from sdrag.text.decoding import is_packed
from sdrag.vocabulary import (
    EVIDENCE_KEY,
    Action,
    Confidential,
    Decision,
    Passage,
    Redaction,
)


@dataclass(frozen=True, repr=False)
class Cutter(Confidential):
    """
    Cuts texts by the constraints that are enforced on them.

    Args:
        propagation: What constraints take from the texts.
        applied: The constraints enforced on each passage, in the policy's order.
        rephrased: What a model made of passages, in place of the cuts.
        failed: Why a constraint is enforced by cuts where a model was to rephrase.
        exempt: The constraints whose values the principal is given in the answer.
    """

    propagation: Propagation
    applied: Sequence[tuple[str, ...]]
    rephrased: Mapping[int, RedactedText] = field(default_factory=dict)
    failed: Mapping[tuple[int, str], str] = field(default_factory=dict)
    exempt: frozenset[str] = frozenset()
    _cuts: dict[tuple[str, ...], bytes] = field(default_factory=dict)

    @property
    def texts(self) -> Texts:
        """As retrieved."""
        return self.propagation.texts

    @property
    def located(self) -> Located:
        """The texts with what was found in them."""
        return self.propagation.located

    @cached_property
    def doubts(self) -> Doubts:
        """Why a constraint could not be enforced on a text."""
        doubts = self.located.doubts
        section = self.propagation.setup.policy.disclosure
        withholds = section.on_model_failure == "withhold"
        return {**doubts, **self.failed} if withholds else doubts

    def style_of(self, text_index: int) -> PlaceholderStyle:
        """Return what stands in place of what is cut from a text's document."""
        known = self.located.known
        keys = known.setup.state.keys.of_document(known.documents[text_index])
        return known.setup.style.of_document(keys)

    def cut(self, text_index: int, names: Sequence[str]) -> RedactedText:
        """
        Return what the named constraints, in the policy's order, leave of a text.

        What they replace is worked out once in a process.
        """
        hashes, memo = (
            self.propagation.describe(text_index),
            self.propagation.setup.state.cuts,
        )
        made_of = (*hashes, self._describe(tuple(names)))
        known: Replacements | None = memo.get(made_of) if hashes else None
        text = self.texts.all[text_index].text
        if known is None:
            taken = self.propagation.take(text_index)
            known = cut(text, taken, names, self.style_of(text_index))
            if hashes:
                memo.put(made_of, known)
        return known.apply(text)

    def _describe(self, names: tuple[str, ...]) -> bytes:
        """Return the hash of constraints, and of how what they cut looks."""
        if names not in self._cuts:
            rules, setup = self.located.known.rules, self.propagation.setup
            placed = (part for name in names for part in (name, rules[name].hex()))
            cut_by = setup.state.keys.of("cut", setup.style.style, *placed)
            self._cuts[names] = cut_by
        return self._cuts[names]

    def cut_passage(self, index: int) -> RedactedText:
        """Return what is left of the passage at `index`."""
        rephrased = self.rephrased.get(index)
        return rephrased or self.cut(index, self.applied[index])

    def why_withheld(self, index: int, redacted: RedactedText) -> str:
        """Return the code why what is left of a passage stays; empty for none."""
        blanket = self.propagation.setup.blanket_rules
        for name in self.applied[index]:
            if name in blanket:
                return blanket[name]
        if self._withholds(redacted):
            return "withheld-by-constraint"
        if doubt := self._find_doubt(index, self.applied[index]):
            return doubt
        return "" if redacted.text is not None else "still-present"

    def release(self, index: int) -> Redaction:
        """Decide on the passage at `index`."""
        applied, redacted = self.applied[index], self.cut_passage(index)
        reason, names = self.why_withheld(index, redacted), redacted.constraint_ids
        passage = self.texts.passages[index]
        blanket = [n for n in applied if n in self.propagation.setup.blanket_rules]
        holding = self._find_holding(index)
        public = passage.id
        if blanket or public in holding:  # of a blanket rule, all of it is a secret
            public = alias(public, self.propagation.setup.key)
        if reason or redacted.text is None:
            every = tuple(dict.fromkeys((*blanket, *names)))
            return Redaction(
                None, public, every, redacted.spans, reason, types=redacted.types
            )
        metadata = self._rewrite_metadata(index, holding)
        taking = {*names}.union(*holding.values())
        for text_index in (index, *self.texts.string_indices[index].values()):
            taking |= self.propagation.name_taking(text_index)
        if evident := [name for name in applied if name in taking]:
            metadata[EVIDENCE_KEY] = {
                "constraints": evident,
                "spans": redacted.spans,
                "document": self.located.known.documents[index].hex(),
            }
        failures = {**self.failed, **self.located.fallbacks}
        codes = (failures.get((index, name)) for name in applied)
        return Redaction(
            Passage(public, redacted.text, metadata, passage.score),
            public,
            names,
            redacted.spans,
            next(filter(None, codes), ""),  # why the local engine decided in its place
            self._find_values(index),
            redacted.types,
        )

    def _find_values(self, index: int) -> dict[str, str]:
        """Return what placeholders stand for that the principal may see everywhere."""
        if not self.exempt or index in self.rephrased:
            return {}
        names = self.applied[index]
        (own, *others) = (
            find_values(
                self.texts.all[i].text,
                self.propagation.take(i),
                names,
                self.style_of(i),
                self.exempt,
            )
            for i in (index, *self.texts.string_indices[index].values())
        )
        hidden = {mark for each in others for mark, value in each.items() if not value}
        return {m: value for m, value in own.items() if value and m not in hidden}

    def _find_holding(self, index: int) -> dict[str, frozenset[str]]:
        """Return the id and plain values that must not be shown, and by which."""
        leaves, enforced = self.texts.leaves[index], {*self.applied[index]}
        holding = ((leaf, self.propagation.take_leaf(index, leaf)) for leaf in leaves)
        return {leaf: names & enforced for leaf, names in holding if names & enforced}

    def _rewrite_metadata(
        self, index: int, hidden: Mapping[str, frozenset[str]]
    ) -> dict[str, Any]:
        texts, names = self.texts, self.applied[index]

        def rewrite(label: str, value: str) -> str | None:
            text_index = texts.string_indices[index].get((label, value))
            if text_index is None:
                return None if value in hidden else value
            packed = names and is_packed(value)
            if packed or self._find_doubt(text_index, names):
                return None
            redacted = self.cut(text_index, names)
            return None if self._withholds(redacted) else redacted.text

        read = rewrite_values(texts.metadata[index], rewrite)
        return {**read, **texts.verbatim[index]}

    def _withholds(self, redacted: RedactedText) -> bool:
        rules = self.located.known.constraints
        return any(rules[name].method == "withhold" for name in redacted.constraint_ids)

    def _find_doubt(self, text_index: int, names: Sequence[str]) -> str:
        codes = (self.doubts.get((text_index, name)) for name in names)
        return next(filter(None, codes), "") if self.doubts else ""


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
        types=redaction.types,
    )
