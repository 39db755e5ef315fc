"""
After the answer: grounded, cited, uncontradicted, free of what passages smuggled in.

It wraps the host's synthesizer and judges what that answers. A streamed answer is
gathered first: it is checked whole, and nothing leaves before the last check. The inner
synthesizer's own events carry its answer as it was; wrap it where they are not read.

Where the policy has numbers cited, the inner synthesizer is handed numbered nodes, so
that the numbers are those of the sources that the model saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_sdrag.auditing import announce
from llamaindex_sdrag.convert import passages_of
from llamaindex_sdrag.principals import principal_of
from llamaindex_sdrag.source_separation import NumberedNode, numbered, unnumbered
from llamaindex_sdrag.wrapping import LLAMAINDEX
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import UsageError
from sdrag.guardrails.answer_work import DECLINED, Guarded, draft_of, report_of
from sdrag.guardrails.separation import cites_ids
from sdrag.options import Options
from sdrag.pipeline import check_answer
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import EVIDENCE_KEY
from sdrag.wrapper import Unpickled

__all__ = ["AnswerGuard"]

Nodes = Sequence[NodeWithScore]
Given = Response | StreamingResponse | AsyncStreamingResponse | PydanticResponse


class AnswerGuard(Unpickled, BaseSynthesizer):
    """
    Check a synthesizer's answers against the nodes they were made from.

    The response's metadata says under `sdrag` what was found out.

    Example:
        ```python
        engine = RetrieverQueryEngine(
            retriever=retriever,
            response_synthesizer=AnswerGuard(
                get_response_synthesizer(llm=llm), policy={"grounding": {}}
            ),
        )
        ```

    Args:
        synthesizer: What answers.
        policy: Each of its sections `grounding`, `citations`, `contradictions`,
            `monitoring` and `staleness` is a check, and so are its constraints.
        llm: Judges, where a section says `method: llm`.
        state: That the nodes were released with, or its path: the answer is searched
            for what was withheld from them.
        options: Judges, where a section says `method: nli`, and the like.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: The policy asks for a model that was not handed in.
    """

    def __init__(
        self,
        synthesizer: BaseSynthesizer,
        policy: PolicySource,
        llm: LLM | None = None,
        *,
        state: StateSource = None,
        options: Options | None = None,
    ) -> None:
        super().__init__(llm=MockLLM(), empty_response=DECLINED)
        self._synthesizer = synthesizer
        self._engine = Engine(
            policy,
            llm,
            state=state,
            options=options,
            stage="answer",
            framework=LLAMAINDEX,
        )
        self._principal_resolver = self._engine.options.principal_resolver

    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Nodes | None = None,
        **response_kwargs: Any,
    ) -> Response:
        """Answer and check; without nodes there is nothing to answer from."""
        if not nodes:
            return Response(self._empty_response)
        given = self._synthesizer.synthesize(
            query, self._cited(nodes), additional_source_nodes, **response_kwargs
        )
        steps = self._steps(query, _gathered(given), nodes)
        found, event = self._engine.run(steps)
        announce(event)
        return self._response(found, given)

    async def asynthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Nodes | None = None,
        **response_kwargs: Any,
    ) -> Response:
        """Answer and check without blocking the event loop."""
        if not nodes:
            return Response(self._empty_response)
        given = await self._synthesizer.asynthesize(
            query, self._cited(nodes), additional_source_nodes, **response_kwargs
        )
        if isinstance(given, AsyncStreamingResponse):
            text = str(await given.get_response())
        else:
            text = _gathered(given)
        steps = self._steps(query, text, nodes)
        found, event = await self._engine.arun(steps)
        announce(event)
        return self._response(found, given)

    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        """Refuse: text chunks have no ids, and metadata baked into them."""
        raise UsageError("The guard judges nodes.", hint="Call synthesize.")

    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        """Refuse, as `get_response`."""
        raise UsageError("The guard judges nodes.", hint="Call asynthesize.")

    def _get_prompts(self) -> PromptDictType:
        return self._synthesizer._get_prompts()  # noqa: SLF001 -- the mixin's own way

    def _update_prompts(self, prompts: PromptDictType) -> None:
        self._synthesizer._update_prompts(prompts)  # noqa: SLF001 -- as above

    def _cited(self, nodes: Nodes) -> list[NodeWithScore]:
        """Number the nodes anew where they are cited, or have numbers already."""
        policy = self._engine.policy
        if policy.citations or any(isinstance(one.node, NumberedNode) for one in nodes):
            return numbered(nodes, by_id=cites_ids(policy))
        return list(nodes)

    def _steps(
        self, query: str | QueryBundle, answer: str, nodes: Nodes
    ) -> Steps[Guarded]:
        bundle = QueryBundle(query) if isinstance(query, str) else query
        policy, now = self._engine.policy, datetime.now(UTC)
        principal = principal_of(bundle, self._principal_resolver)
        draft = draft_of(bundle.query_str, answer, passages_of(nodes), policy)
        state = self._engine.state
        return check_answer(draft, policy, principal, now=now, state=state)

    def _response(self, found: Guarded, given: Given) -> Response:
        report = report_of(found)
        del report["answer"]
        before = given.metadata or {}
        # Highlight & Summarize may have said there how its own answer ended.
        said = before.get(EVIDENCE_KEY)
        report = {**(said if isinstance(said, dict) else {}), **report}
        return Response(
            found.text,
            source_nodes=unnumbered(given.source_nodes),
            metadata={**before, EVIDENCE_KEY: report},
        )

    def __repr__(self) -> str:
        return f"AnswerGuard(policy_hash={self._engine.policy_hash!r})"


def _gathered(given: Given) -> str:
    """Return the whole text of an answer that may still be on its way."""
    if isinstance(given, StreamingResponse):
        given = given.get_response()
    return given.response or "" if isinstance(given, Response) else str(given)
