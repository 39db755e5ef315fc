"""
After the answer: values in place of placeholders, for whom the policy exempts.

It wraps the host's synthesizer, or another wrapper of one, and makes whole what that
answers; a stream is made whole piece by piece. The inner synthesizer's own events carry
its answer with placeholders; those of the query engine around it carry the values.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from dataclasses import replace
from typing import Any

from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.llms import MockLLM
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType

from llamaindex_sdrag.convert import passages_of
from llamaindex_sdrag.wrapping import SynthesizerWrapper, enforce, principal_of
from sdrag.disclosure.restore import Restorer
from sdrag.effects.callers import Caller
from sdrag.engine import Engine
from sdrag.options import Options
from sdrag.pipeline import Request, restore
from sdrag.policy import PolicySource
from sdrag.state import StateSource


class Restore(SynthesizerWrapper):
    """
    Give whom the policy exempts the values back, in place of placeholders.

    Example:
        ```python
        engine = RetrieverQueryEngine(
            retriever, Restore(get_response_synthesizer(llm=llm), policy, state)
        )
        ```

    Args:
        synthesizer: What answers.
        policy: With `disclosure.restore: true`.
        state: That the nodes were released with, or its path.
        options: Sinks of audit events, and a resolver of principals.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: The policy restores nothing, or there is no state.
        MissingExtraError: The extra `linkage` is not installed.
    """

    _stage = "restore"

    def __init__(
        self,
        synthesizer: BaseSynthesizer,
        policy: PolicySource,
        state: StateSource = None,
        *,
        options: Options | None = None,
    ) -> None:
        self._synthesizer = synthesizer
        self._set_up(policy, None, None, state, options)

    def _initialize(self, engine: Engine, fields: dict[str, Any]) -> None:
        super().__init__(llm=MockLLM(), **fields)

    async def _respond(
        self,
        do: Caller,
        query: QueryType,
        nodes: list[NodeWithScore],
        others: dict[str, Any],
    ) -> RESPONSE_TYPE:
        engine, inner = self.in_force(), self._synthesizer
        bundle = QueryBundle(query) if isinstance(query, str) else query
        request = Request("", principal_of(engine, bundle))
        steps = restore(passages_of(nodes), request, engine)
        restorer = await enforce(do, engine, steps, request.principal)
        response = await do(inner.synthesize, inner.asynthesize, query, nodes, **others)
        if isinstance(response, Response):
            whole = restorer.feed(response.response or "") + restorer.end()
            return replace(response, response=whole)
        if isinstance(response, StreamingResponse):
            pieces = _each(response.response_gen, restorer)
            return replace(response, response_gen=pieces, response_txt=None)
        if isinstance(response, AsyncStreamingResponse):
            apieces = _aeach(response.response_gen, restorer)
            return replace(response, response_gen=apieces, response_txt=None)
        return response


def _each(pieces: Iterable[str], restorer: Restorer) -> Generator[str, None, None]:
    for piece in pieces:
        if ready := restorer.feed(piece):
            yield ready
    if rest := restorer.end():
        yield rest


async def _aeach(
    pieces: AsyncIterable[str], restorer: Restorer
) -> AsyncGenerator[str, None]:
    async for piece in pieces:
        if ready := restorer.feed(piece):
            yield ready
    if rest := restorer.end():
        yield rest
