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
from typing import Any

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType

from llamaindex_sdrag.convert import passages_of
from llamaindex_sdrag.source_separation import NumberedNode, number_nodes, strip_numbers
from llamaindex_sdrag.wrapping import SynthesizerWrapper, enforce, principal_of
from sdrag.effects.callers import Caller
from sdrag.engine import Engine
from sdrag.guardrails.answer_work import DECLINED, draft_of, report_of
from sdrag.guardrails.separation import cites_ids
from sdrag.options import Options
from sdrag.pipeline import check_answer
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import EVIDENCE_KEY

Nodes = Sequence[NodeWithScore]


class AnswerGuard(SynthesizerWrapper):
    """
    Check a synthesizer's answers against the nodes they were made from.

    The response's metadata says under `sdrag` what was found out. `get_prompts` and
    `update_prompts` reach the synthesizer that answers, by LlamaIndex's hooks for
    subclasses.

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
        UsageError: The policy asks for a model that was not passed.
    """

    _stage = "answer"

    def __init__(
        self,
        synthesizer: BaseSynthesizer,
        policy: PolicySource,
        llm: LLM | None = None,
        *,
        state: StateSource = None,
        options: Options | None = None,
    ) -> None:
        self._synthesizer = synthesizer
        self._set_up(policy, llm, None, state, options)

    def _initialize(self, engine: Engine, fields: dict[str, Any]) -> None:
        super().__init__(llm=MockLLM(), empty_response=DECLINED, **fields)

    async def _respond(
        self,
        do: Caller,
        query: QueryType,
        nodes: list[NodeWithScore],
        others: dict[str, Any],
    ) -> Response:
        if not nodes:
            return Response(self._empty_response)
        engine, inner = self.in_force(), self._synthesizer
        bundle = QueryBundle(query) if isinstance(query, str) else query
        ask, aask = inner.synthesize, inner.asynthesize
        numbered = _number_if_cited(nodes, engine.policy)
        response = await do(ask, aask, query, numbered, **others)
        text, passages = await _whole(response), passages_of(nodes)
        draft = draft_of(bundle.query_str, text, passages, engine.policy)
        principal = principal_of(engine, bundle)
        steps = check_answer(draft, engine, principal)
        guarded = await enforce(do, engine, steps, principal)
        report = report_of(guarded)
        del report["answer"]
        metadata = response.metadata or {}
        # Highlight & Summarize may have told there how its own answer ended.
        if isinstance(ending := metadata.get(EVIDENCE_KEY), dict):
            report = {**ending, **report}
        sources = strip_numbers(response.source_nodes)
        return Response(guarded.text, sources, {**metadata, EVIDENCE_KEY: report})


def _number_if_cited(nodes: Nodes, policy: Policy) -> list[NodeWithScore]:
    """Number the nodes anew where they are cited, or have numbers already."""
    if policy.citations or any(isinstance(each.node, NumberedNode) for each in nodes):
        return number_nodes(nodes, by_id=cites_ids(policy))
    return list(nodes)


async def _whole(response: Any) -> str:
    """Return the whole text of an answer that may still be on its way."""
    if isinstance(response, AsyncStreamingResponse):
        response = await response.get_response()
    elif isinstance(response, StreamingResponse):
        response = response.get_response()
    return response.response or "" if isinstance(response, Response) else str(response)
