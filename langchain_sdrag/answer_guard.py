"""
After the answer: grounded, cited, uncontradicted, free of what passages smuggled in.

It takes what the chain took, and the answer:
`{"question": str, "context": documents, "answer": str}`. The answer is checked whole,
so `stream` gives it in one piece, after the last check. The context is what the host's
prompt received: give it what `SelectiveDisclosureRetriever` returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableSerializable
from pydantic import Field

from langchain_sdrag.convert import passages_of
from langchain_sdrag.models import Model
from langchain_sdrag.wrapping import TracedRunnable, Work, Wrapper, enforce
from sdrag.configuration import Stage
from sdrag.effects.callers import Caller
from sdrag.errors import UsageError
from sdrag.guardrails.answer_work import draft_of, report_of
from sdrag.options import Options
from sdrag.pipeline import check_answer
from sdrag.policy import PolicySource
from sdrag.principals import current_principal
from sdrag.state import StateSource

_WRITE = (
    'Write `{"question": RunnablePassthrough(), "context": retriever} |'
    " RunnablePassthrough.assign(answer=...) | guard`: what answers returns the answer"
    " alone."
)
Inputs = Mapping[str, Any]
Output = str | dict[str, Any]
"""The answer, or with `return_report` the answer and what was found out about it."""


class AnswerGuard(
    TracedRunnable[Inputs, Output], Wrapper, RunnableSerializable[Inputs, Output]
):
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
            `monitoring` and `staleness` is a check, and so are its constraints.
        llm: Judges, where a section says `method: llm`.
        state: That the documents were released with, or its path: the answer is
            searched for what was withheld from them.
        options: Judges, where a section says `method: nli`, and the like.
        return_report: Give the answer with its status and the evidence.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: The policy asks for a model that was not passed.
    """

    return_report: bool = Field(default=False, frozen=True)

    _stage: ClassVar[Stage] = "answer"

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        state: StateSource = None,
        options: Options | None = None,
        return_report: bool = False,
    ) -> None:
        fields = {"return_report": return_report}
        self._set_up(policy, llm, None, state, options, **fields)

    def _prepare(self, given: Inputs) -> tuple[dict[str, int], Work]:
        keys = ("question", "context", "answer")
        missing = [key for key in keys if not _has(given, key)]
        if missing:
            raise UsageError(f"The input lacks {', '.join(missing)}.", hint=_WRITE)
        context, answer = given["context"], given["answer"]
        if isinstance(answer, Mapping) and {"answer", "sources"} <= answer.keys():
            # As `HighlightAndSummarize(return_sources=True)` gives it.
            answer = answer["answer"]
        if isinstance(context, (str, Document)) or not isinstance(context, Sequence):
            raise UsageError(
                "The context is a list of documents.",
                hint="A string cannot be divided into sources.",
            )
        text = str(answer.text) if isinstance(answer, BaseMessage) else answer
        engine, passages = self.in_force(), passages_of(context)
        draft = draft_of(given["question"], text, passages, engine.policy)

        async def check(do: Caller, run: BaseCallbackManager) -> Output:
            steps = check_answer(draft, engine, current_principal())
            guarded = await enforce(do, engine, steps, run)
            return report_of(guarded) if self.return_report else guarded.text

        return {"passages": len(passages)}, check


def _has(given: object, key: str) -> bool:
    return isinstance(given, Mapping) and key in given
