"""
Explaining what disclosure control does with texts.

The spans are those that the pipeline cuts, read from the same code. Who found each of
them is what the engines said when they read the text, which is why an explanation reads
into a state of its own: nothing is looked up. A span that no engine found in this very
text is hidden because the document's register knows it from elsewhere.

Guards are not explained: they look at passages and answers, not at constraints.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sdrag.detectors import Detector
from sdrag.disclosure.binding import choose_for
from sdrag.disclosure.disclose import enforce, release_all
from sdrag.disclosure.enforceable import not_understood
from sdrag.disclosure.keep import apply_keeps
from sdrag.disclosure.release import Cutter
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts, name_documents
from sdrag.effects.prompts import Prompt
from sdrag.effects.steps import Reply, Steps
from sdrag.effects.tokens import Completion
from sdrag.errors import ConstraintNotUnderstoodError, UsageError, check_type
from sdrag.explanation.explanations import (
    Cause,
    ExplainedSpan,
    Explanation,
    share_right,
)
from sdrag.framework import Model
from sdrag.options import Options
from sdrag.pipeline import Engine
from sdrag.policy import Policy, PolicySource
from sdrag.privacy.audit import count_failures
from sdrag.text.spans import SpanUnion, merge
from sdrag.vocabulary import Constraint, Finding, Passage, Principal, Redaction, Span

_REGISTER = Cause("register")


def explain(
    text: str,
    policy: PolicySource,
    *,
    metadata: Mapping[str, Any] | None = None,
    principal: Principal | None = None,
    detector: Detector | None = None,
    complete: Callable[[Prompt], Completion | str] | Model | None = None,
) -> Explanation:
    """
    Explain what a policy does with one text.

    Args:
        text: Read as a document by itself.
        policy: A path, a mapping, a list of sentences or a `Policy`.
        metadata: Of the document, for the constraints' `where`.
        principal: The end user, whom `unless` may exempt.
        detector: Finds mentions in addition to the local detector.
        complete: A model that completes prompts; the local engine alone when missing.

    Returns:
        The spans that are hidden and what was considered and left, in characters of
        `text`. A notebook shows it in colour.

    Raises:
        PolicyError: The policy cannot be read.
        ConstraintNotUnderstoodError: A constraint needs a model, and there is none.
        UsageError: The text is no string.
        SdragError: The text could not be read.
    """
    if not isinstance(text, str):
        raise UsageError(
            f"`explain` takes one text first, got {type(text).__name__}.",
            hint="Call explain(text, policy), or Explainer(policy).explain(texts).",
        )
    passage = Passage("text", text, metadata or {}, document_id="text")
    explainer = Explainer(policy, detector=detector, complete=complete)
    if explainer.refused:
        raise ConstraintNotUnderstoodError(explainer.refused)
    (explanation,) = explainer.explain([passage], principal)
    return explanation


class Explainer:
    """
    Explains many texts under one policy.

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        detector: Finds mentions in addition to the local detector.
        complete: A model that completes prompts; the local engine alone when missing.

    Attributes:
        constraints: The words of all constraints of the policy by their ids.
        refused: Why constraints need a model, where there is none, by their ids. They
            are left out of explanations: with them a wrapper would be refused.
        model_failures: How the model failed so far, and how often.

    Raises:
        PolicyError: The policy cannot be read.
    """

    def __init__(
        self,
        policy: PolicySource,
        *,
        detector: Detector | None = None,
        complete: Callable[[Prompt], Completion | str] | Model | None = None,
    ) -> None:
        read = Policy.read(policy).without_limits()
        self.constraints = {rule.id: rule.text for rule in read.rules}
        self.refused: Mapping[str, str] = {}
        if complete is None and read.when_not_understood == "refuse":
            self.refused = not_understood(read, detector)
        kept = tuple(c for c in read.constraints if c.id not in self.refused)
        self._policy = read.model_copy(update={"constraints": kept})
        self._detector = detector
        self._complete = complete
        self.model_failures: Counter[str] = Counter()

    def explain(
        self,
        passages: Sequence[Passage | str] | Passage | str,
        principal: Principal | None = None,
    ) -> list[Explanation]:
        """
        Explain each passage; those of one document come together, in their order.

        Args:
            passages: Passages; a string is a document by itself.
            principal: The end user, whom `unless` may exempt.

        Raises:
            UsageError: The principal is none.
            SdragError: A text could not be read.
        """
        if principal is not None:
            check_type(principal, Principal, "principal")
        given = (passages,) if isinstance(passages, (Passage, str)) else passages
        read = [
            Passage(f"text {number}", each) if isinstance(each, str) else each
            for number, each in enumerate(given, start=1)
        ]
        # An empty state: what is looked up has no cause.
        options = Options(detector=self._detector)
        engine = Engine(self._policy, llm=self._complete, options=options, stage="view")
        named = name_documents(read, self._policy.disclosure.document_keys)
        steps = _explain(tuple(named), principal, engine.disclosure)
        explanations, event = engine.run(steps)
        codes = (explanation.reason for explanation in explanations)
        self.model_failures += Counter(count_failures([event], codes))
        return explanations


def _explain(
    passages: tuple[Passage, ...], principal: Principal | None, setup: DisclosureSetup
) -> Steps[list[Explanation]]:
    texts = Texts(passages, setup.rules, setup.policy.metadata)
    candidates = yield from choose_for(passages, "", principal, setup)
    cutter = yield from enforce(texts, candidates, setup, from_document=True)
    redactions = release_all(cutter)
    considered = yield from _find_considered(passages, setup)
    return [
        _explanation(cutter, index, redaction, considered[index])
        for index, redaction in enumerate(redactions)
    ]


def _find_considered(
    passages: Sequence[Passage], setup: DisclosureSetup
) -> Steps[list[tuple[Finding, ...]]]:
    """Find what the local engine is most careful about, and what the policy keeps."""
    locator = setup.locator
    most_careful = locator.sensitivity == "high" and not setup.has_model
    if most_careful and not any(rule.keep for rule in setup.rules):
        return [() for _ in passages]
    careful = replace(locator, sensitivity="high")
    outcomes = yield from careful.locate(passages, setup.rules)
    return [
        tuple(_with_keeps(passage.text, outcome.value, setup.rules))
        if isinstance(outcome, Reply)
        else ()
        for passage, outcome in zip(passages, outcomes, strict=True)
    ]


def _with_keeps(
    text: str, findings: Sequence[Finding], rules: Sequence[Constraint]
) -> Iterator[Finding]:
    """Yield findings; the reason of one that the policy lets stay says so."""
    for rule in rules:
        of_rule = [finding for finding in findings if finding.constraint_id == rule.id]
        left = set(apply_keeps(text, of_rule, rule))
        for finding in of_rule:
            yield finding if finding in left else replace(finding, reason="kept")


def _explanation(
    cutter: Cutter,
    index: int,
    redaction: Redaction,
    considered: Iterable[Finding],
) -> Explanation:
    passage = cutter.texts.passages[index]
    applied = cutter.applied[index]
    words = {rule.id: rule.text for rule in cutter.texts.constraints}
    hidden = _hidden(cutter, index) if passage.text else ()
    spans = sorted(hidden, key=lambda each: (each.span, each.constraint_id))
    return Explanation(
        id=passage.id,
        text=passage.text,
        constraints={name: words[name] for name in applied},
        spans=tuple(spans),
        left=tuple(_left(considered, spans, applied)),
        released=redaction.passage.text if redaction.passage else None,
        reason=redaction.reason,
    )


def _hidden(cutter: Cutter, index: int) -> Iterator[ExplainedSpan]:
    """Yield what each constraint takes from a passage, once."""
    whole = Span(0, len(cutter.texts.passages[index].text))
    findings = cutter.located.findings.get(index, ())
    for name in cutter.applied[index]:
        doubt = "undecided" if (index, name) in cutter.doubts else ""
        if why := cutter.propagation.setup.blanket_rules.get(name, doubt):
            yield ExplainedSpan(whole, name, (Cause(why),))
            continue
        taken = cutter.propagation.take(index)
        merged = merge(span for span, names in taken.items() if name in names)
        starts = [span.start for span in merged]
        found: list[list[Finding]] = [[] for _ in merged]
        for finding in findings:
            if finding.constraint_id == name:
                first = max(0, bisect_right(starts, finding.span.start) - 1)
                last = bisect_left(starts, finding.span.end)
                for each in found[first:last]:
                    each.append(finding)
        for span, of_span in zip(merged, found, strict=True):
            yield ExplainedSpan(span, name, _causes(span, of_span))


def _causes(span: Span, findings: Iterable[Finding]) -> tuple[Cause, ...]:
    """Return who found something in a span: rules, then networks, the surest first."""
    best: dict[tuple[str, str], float] = {}
    for finding in findings:
        if finding.span.overlaps(span):
            key = (finding.reason, finding.type)
            best[key] = max(best.get(key, 0.0), finding.confidence)
    ranked = sorted(best.items(), key=lambda item: -item[1])
    causes = [Cause(by, type_, share_right(by, score)) for (by, type_), score in ranked]
    causes.sort(key=lambda cause: cause.confidence is not None)
    return tuple(causes) or (_REGISTER,)


def _left(
    considered: Iterable[Finding],
    hidden: Iterable[ExplainedSpan],
    applied: Sequence[str],
) -> Iterator[ExplainedSpan]:
    """Yield what a careful reading hides and this one does not."""
    covered = SpanUnion(explained.span for explained in hidden)
    by_span: dict[tuple[Span, str], list[Finding]] = {}
    for each in considered:
        if each.constraint_id in applied and not covered.contains(each.span):
            by_span.setdefault((each.span, each.constraint_id), []).append(each)
    for (span, name), findings in sorted(by_span.items()):
        yield ExplainedSpan(span, name, _causes(span, findings))
