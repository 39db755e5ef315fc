"""
Extraction: a model finds the spans that constraints withhold (SD-RAG, III-C2).

"We always perform the extraction on the original": every block is asked about every
batch of constraints, and all prompts go out in one round trip. Each batch has a planted
sentence asked about too: where that is not answered, no reply counts, nor does
one that names a constraint it was not asked about, such as those of the example.
Whatever is not a readable verdict on spans that are in the text is doubt. What is in
doubt is asked again: of many texts some together, so that a text that spoils replies is
found in few calls, and at last each by itself. So no neighbour decides a text. Where
the calls that a text may cost suffice, the last prompts are the smallest: a constraint
and a few sentences each.

A model whose replies fail is tried on texts of ours: no document decides what becomes
of others, and no policy. One that fails there too is left out for some minutes, so all
that it would be asked is in doubt. A policy can have it asked in the form for small
models (`forms`), and then only about what the local engine does not know by its type.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isqrt
from time import monotonic

from sdrag.disclosure.model.controls import Planted, seed
from sdrag.disclosure.model.forms import SINGLY, TOGETHER, Asked, Form
from sdrag.disclosure.setup import REMEMBERED, DisclosureSetup, ModelFailure
from sdrag.disclosure.texts import Block, Group, Piece, cut_blocks
from sdrag.effects.prompts import Labelled, sensitive
from sdrag.effects.steps import Failure, Outcome, Steps, complete, why_failed
from sdrag.text.folding import Folded, fold, fold_text
from sdrag.text.readings import readings, strip_markup
from sdrag.text.sentences import sentences
from sdrag.text.spans import locate
from sdrag.vocabulary import Confidential, Constraint, Finding, Span

_SHOWN = 0.25
"""The share of the token budget that examples may take."""


def extraction_prompts(
    text: Labelled,
    constraints: Sequence[Constraint],
    key: bytes,
    wrong: str = "",
    budget: int = 0,
    form: Form = TOGETHER,
) -> tuple[list[Asked], Planted]:
    """
    Ask a batch for the spans of a block; returns the control of the prompts, too.

    `budget`: tokens that what the author showed of the constraints may take.
    """
    draw = seed((wrong, text.text, *(rule.text for rule in constraints)), key)
    control = Planted.draw(draw, constraints)
    listed = [*constraints]
    rule = Constraint(control.id, control.constraint)
    listed.insert(draw.randint(0, len(listed)), rule)
    place = draw.choice([0, *(span.end for span in sentences(text.text))])
    parts = (text.text[:place], control.sentence, text.text[place:])
    shown = Labelled(" ".join(filter(None, parts)), text.labels)
    return [*form.ask(shown, listed, key, wrong, budget)], control


_WRONG = {
    "cut-off": "it was too long; list nothing twice",
    "no-verdict": "it was not JSON of that form, or left out a constraint",
    "control-failed": "it left out words that have to go, or took words that need not",
    "span-not-in-text": "it quoted what does not stand in the text, word for word",
}
"""What is asked again, and what it says was wrong; a server that fails is not."""
_FAILED = frozenset({"cut-off", "no-verdict", "control-failed"})
"""What a small model fails at where constraints come together."""
_TRIALS = (
    "The library opens at nine.",
    "Two trams were late. The park was full, and nobody minded.",
    "Anna Holm sold the boat on 4 June. It had been her father's.",
)
"""Texts on which a model that failed is tried: no document chooses its form."""
_OURS = (Constraint("ours", "Remove the names of people"),)
"""What it is asked about them: no policy makes an honest reply a failure."""
_FEW = 250
"""Tokens of the text in the smallest prompts: a few sentences."""


@dataclass(frozen=True, slots=True, repr=False)
class ExtractionQuestion(Confidential):
    """
    A block of texts and a batch of the constraints that hold for them.

    Args:
        form: In which it is asked: one prompt, or one for each constraint.
        text_indices: Of the block's texts, among all.
        block: The texts, or parts of them.
        batch: Of the constraints.
        left: How many prompts may follow in which each of the texts is asked about.
        wrong: What was wrong with the last reply.
    """

    form: Form
    text_indices: tuple[int, ...]
    block: Block
    batch: tuple[Constraint, ...]
    left: int
    wrong: str = ""

    def again(self, doubts: Mapping[str, str]) -> list[ExtractionQuestion]:
        """
        Ask about fewer texts; at last about each by itself, in the smallest prompts.

        `doubts` are the constraints that are asked about, and why.
        """
        wrong = _WRONG.get(next(iter(doubts.values()), ""))
        if wrong is None or not self.left:
            return []
        rules = tuple(rule for rule in self.batch if rule.id in doubts)
        few, left = isqrt(len(self.block.pieces)), self.left - 1
        smaller: list[tuple[Block, tuple[Constraint, ...]]] = []
        if few > 1 and left:
            smaller = [(part, rules) for part in self.block.split(few)]
        else:
            left = 0
            for text in self.block.split(1):
                small = [(part, (rule,)) for rule in rules for part in text.cut(_FEW)]
                smaller += small if len(small) <= self.left else [(text, rules)]
        return [
            replace(self, block=block, batch=batch, left=left, wrong=wrong)
            for block, batch in smaller
        ]


@dataclass(slots=True)
class ModelFindings:
    """
    What the model found, by the text's index among all.

    Args:
        findings: Spans of the text's own characters.
        doubts: Why a constraint could not be decided on a text, as codes.
    """

    findings: dict[int, list[Finding]] = field(default_factory=dict)
    doubts: dict[tuple[int, str], str] = field(default_factory=dict)

    def read(
        self,
        question: ExtractionQuestion,
        replies: Iterable[tuple[Asked, Outcome[Labelled]]],
        control: Planted,
    ) -> dict[str, str]:
        """Read the replies to a question; returns the constraints in doubt, and why."""
        names = [constraint.id for constraint in question.batch]
        verdicts: dict[str, tuple[str, ...]] = {}
        doubts = dict.fromkeys([*names, control.id], "no-verdict")
        for asked, outcome in replies:
            if isinstance(outcome, Failure):
                doubts |= dict.fromkeys(asked.ids, why_failed(outcome.error))
            else:
                verdicts |= question.form.read(outcome.value.text, asked.ids)
        unread = doubts.pop(control.id)
        if control.id not in verdicts:
            return dict.fromkeys(names, unread)
        if not control.is_answered(verdicts[control.id]):
            return dict.fromkeys(names, "control-failed")
        usable: dict[str, Sequence[str]] = {}
        for name in names:
            if name not in verdicts:
                continue
            if control.is_copied(verdicts[name]):  # it takes all for this one, too
                doubts[name] = "control-failed"
            else:
                usable[name] = verdicts[name]
                del doubts[name]
        astray = self._find(question, usable, fold(control.sentence))
        return doubts | dict.fromkeys(astray, "span-not-in-text")

    def _find(
        self,
        question: ExtractionQuestion,
        verdicts: Mapping[str, Sequence[str]],
        planted: Folded,
    ) -> list[str]:
        """Add what is quoted; returns the constraints of what is not in the text."""
        text = question.block.text
        folded, *others = (*readings(text), strip_markup(text))
        astray: dict[str, None] = {}
        for name, quotations in verdicts.items():
            for quotation in quotations:
                words = fold_text(quotation)
                is_planted = any(planted.find(words))
                spans: Iterable[Span] = locate(quotation, folded, *others)
                if is_planted:  # what is like it in the text is not meant
                    spans = folded.find(words)
                elif not spans or not any(map(str.isalnum, words)):
                    astray[name], spans = None, ()
                for span in spans:
                    for index, part in question.block.back(span):
                        text_index = question.text_indices[index]
                        finding = Finding(part, name, "model")
                        self.findings.setdefault(text_index, []).append(finding)
        return list(astray)


def extract(groups: Sequence[Group], setup: DisclosureSetup) -> Steps[ModelFindings]:
    """
    Ask the model for the spans of every text under every constraint that holds for it.

    Args:
        groups: Unredacted texts with their constraints.
        setup: The engine.
    """
    extraction = ModelFindings()
    form = SINGLY if setup.asks_singly else TOGETHER
    left_out = setup.left_out  # once: another request may change it meanwhile
    questions = [] if left_out else _cut(groups, form, setup)
    while questions:
        doubts = yield from _ask(questions, extraction, setup)
        codes = {code for each in doubts for code in each.values()}
        if codes & _FAILED and (left_out := (yield from _fails_at_ours(setup))):
            break
        again: list[ExtractionQuestion] = []
        for question, doubted in zip(questions, doubts, strict=True):
            smaller = question.again(doubted)
            again += smaller
            if not smaller:  # what is in doubt stays so
                indices = [question.text_indices[i] for i in question.block.indices()]
                extraction.doubts |= {
                    (index, name): code
                    for name, code in doubted.items()
                    for index in indices
                }
        questions = again
    if left_out:
        extraction.doubts |= {
            (index, rule.id): left_out
            for group in groups
            for index in group.text_indices
            for rule in group.constraints
        }
    return extraction


def _cut(
    groups: Sequence[Group], form: Form, setup: DisclosureSetup
) -> list[ExtractionQuestion]:
    """Cut texts into blocks and their constraints into batches, as a form has them."""
    section = setup.policy.disclosure
    tokens = min(section.token_budget, form.tokens or section.token_budget)
    size = sys.maxsize if form.most else section.batch_size
    return [
        ExtractionQuestion(form, group.text_indices, block, batch, section.max_calls)
        for group in groups
        for block in cut_blocks(group.texts, tokens)
        for start in range(0, len(group.constraints), size)
        if (batch := group.constraints[start : start + size])
    ]


def _ask(
    questions: Sequence[ExtractionQuestion],
    extraction: ModelFindings,
    setup: DisclosureSetup,
) -> Steps[list[dict[str, str]]]:
    """Ask in one round trip; returns what is in doubt of each question, and why."""
    budget = int(_SHOWN * setup.policy.disclosure.token_budget)
    asked = [
        extraction_prompts(
            sensitive(q.block.text), q.batch, setup.key, q.wrong, budget, q.form
        )
        for q in questions
    ]
    outcomes = iter(
        (yield from complete(each.prompt for prompts, _ in asked for each in prompts))
    )
    return [
        extraction.read(q, [(each, next(outcomes)) for each in prompts], control)
        for q, (prompts, control) in zip(questions, asked, strict=True)
    ]


def _fails_at_ours(setup: DisclosureSetup) -> Steps[str]:
    """Find out, not every time, whether a model fails at texts of ours, and how."""
    if setup.policy.disclosure.small_model != "auto" or setup.trial is not None:
        return setup.left_out
    blocks = [Block(text, (Piece(0, Span(0, len(text)), 0),)) for text in _TRIALS]
    questions = [
        ExtractionQuestion(TOGETHER, (0,), block, _OURS, 0) for block in blocks
    ]
    doubts = yield from _ask(questions, ModelFindings(), setup)
    codes = [code for each in doubts for code in each.values()]  # one of each text
    if _WRONG.keys() >= {*codes}:  # else its server fails
        fails = [code for code in codes if code in _FAILED]
        code, until = fails[0] if len(fails) > 1 else "", monotonic() + REMEMBERED
        setup.trials.put(setup.model_key or b"", ModelFailure(code, (), until))
    return setup.left_out
