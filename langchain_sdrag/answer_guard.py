"""
After the answer: grounded, cited, uncontradicted, free of what passages smuggled in.

It takes what the chain took, and the answer:
`{"question": str, "context": documents, "answer": str}`. The answer is judged whole, so
`stream` gives it in one piece, after the last check. The context is what the host's
prompt received: give it what `SelectiveDisclosureRetriever` returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import Field, PrivateAttr

from langchain_sdrag.auditing import aannounce, announce
from langchain_sdrag.convert import passages_of
from langchain_sdrag.effects import Model
from langchain_sdrag.tracing import cover
from langchain_sdrag.wrapping import Wrapper
from sdrag.engine.calls import Limits
from sdrag.engine.steps import Steps
from sdrag.errors import UsageError
from sdrag.guardrails.answer import Draft, Guarded, guard
from sdrag.guardrails.answer_io import draft_of, report_of
from sdrag.judges import Judge, Scorer, check_answering
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource, open_state
from sdrag.wrapper_setup import Audit, Escalate

__all__ = ["AnswerGuard"]

Output = str | dict[str, Any]
"""The answer, or with `return_report` the answer and what was found out about it."""


class AnswerGuard(Wrapper, RunnableSerializable[Mapping[str, Any], Output]):
    """
    Check an answer against the passages it was made from.

    Example:
        ```python
        chain = RunnablePassthrough.assign(answer=prompt | llm) | AnswerGuard(
            policy={"grounding": {}, "citations": {}, "monitoring": {}}
        )
        ```

    Args:
        policy: Each of its sections `grounding`, `citations`, `contradictions`,
            `monitoring` and `staleness` is a check.
        llm: Judges, where a section says `method: llm`.
        entailment: Gives pairs of premise and hypothesis the probability that the one
            implies the other, where a section says `method: nli`.
        contradiction: The same for contradicting.
        state: That the passages were released with, or its path: the answer is
            searched for what was withheld from them.
        escalate: Called where a contradiction made the guard decline.
        return_report: Give the status and the evidence beside the answer.
        audit: Takes the audit events.
        limits: The bounds of model calls.
    """

    _stage: str = PrivateAttr(default="answer")

    entailment: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    contradiction: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    state: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    return_report: bool = Field(default=False, frozen=True)

    def __init__(
        self,
        *,
        policy: PolicySource,
        llm: Model | None = None,
        entailment: Scorer = None,
        contradiction: Scorer = None,
        state: StateSource = None,
        escalate: Escalate | None = None,
        return_report: bool = False,
        audit: Audit = None,
        limits: Limits | None = None,
        **runnable: Any,
    ) -> None:
        runnable.update(
            policy=Policy.read(policy),
            llm=llm,
            entailment=entailment,
            contradiction=contradiction,
            state=None if state is None else open_state(state),
            escalate=escalate,
            return_report=return_report,
            audit=audit,
            limits=limits,
        )
        super().__init__(**runnable)

    def _build(self) -> None:
        super()._build()
        self._hook = replace(self._hook, state=self.state)
        has_model = self.llm is not None
        check_answering(self.policy, self._judges(), has_model=has_model)

    def _judges(self) -> dict[Judge, Scorer]:
        return {"entailment": self.entailment, "contradiction": self.contradiction}

    def invoke(
        self,
        input: Mapping[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Output:
        """Check; the run's own trace holds the number of passages, and the result."""
        draft = self._draft(input)

        def work(_: object, run_manager: Any) -> Output:
            child = run_manager.get_child()
            found, event = self._hook.perform(
                self._steps(draft), cover(self.policy, child)
            )
            announce(event, child)
            return self._output(found)

        return self._call_with_config(work, _told(draft), config, **kwargs)

    async def ainvoke(
        self,
        input: Mapping[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Output:
        """Check without blocking the event loop."""
        draft = self._draft(input)

        async def work(_: object, run_manager: Any) -> Output:
            child = run_manager.get_child()
            found, event = await self._hook.aperform(
                self._steps(draft), cover(self.policy, child)
            )
            await aannounce(event, child)
            return self._output(found)

        return await self._acall_with_config(work, _told(draft), config, **kwargs)

    def _draft(self, given: Mapping[str, Any]) -> Draft:
        missing = {"question", "context", "answer"} - set(given)
        if missing:
            raise UsageError(f"The input lacks {sorted(missing)}.")
        context = given["context"]
        if isinstance(context, (str, Document)) or not isinstance(context, Sequence):
            raise UsageError(
                "The context is a list of documents.",
                hint="A string cannot be told apart into sources.",
            )
        answer = given["answer"]
        text = str(answer.text) if isinstance(answer, BaseMessage) else answer
        return draft_of(given["question"], text, passages_of(context), self.policy)

    def _steps(self, draft: Draft) -> Steps[Guarded]:
        now = datetime.now(UTC)
        return guard(draft, self.policy, now=now, state=self.state)

    def _output(self, found: Guarded) -> Output:
        return report_of(found) if self.return_report else found.text


def _told(draft: Draft) -> dict[str, Any]:
    return {"passages": len(draft.passages)}
