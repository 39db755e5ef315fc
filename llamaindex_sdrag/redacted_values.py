"""
Redact values that a tool writes next to its answer: events, entries of a state.

All texts of one value are judged together, as parts of one document, so that a name
that is found in one of them is known in the others. A text without metadata is given
all that any constraint's `where` could ask for: every constraint holds for it.

Events and messages keep their types. A message is built anew of its text and its tool
calls, and a node of its text: nothing else rides along on them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.workflow import Event
from pydantic import ValidationError

from llamaindex_sdrag.selective_disclosure_postprocessor import (
    SelectiveDisclosurePostprocessor,
)
from sdrag.errors import UsageError
from sdrag.policy import metadata_of_any
from sdrag.text.value_rewriting import Recurse, rewrite_value, texts_in
from sdrag.vocabulary import Confidential

__all__ = ["NOTHING", "ValueRedactor"]

NOTHING = "Nothing was found that may be disclosed."
"""Stands for a text that may not be disclosed."""
_KEY = secrets.token_bytes(32)
_WHOLE = "value"


@dataclass(frozen=True, slots=True, repr=False)
class ValueRedactor(Confidential):
    """
    Redacts values for one principal under one policy.

    Args:
        redactor: Enforces the policy; it does not change during the call.
        question: Ranks constraints, and goes nowhere else.
    """

    redactor: SelectiveDisclosurePostprocessor
    question: QueryBundle

    def redact(self, value: Any) -> Any:
        """Return a copy of the value that holds what may be disclosed."""
        nodes = self._nodes(value)
        released = self.redactor.postprocess_nodes(nodes, self.question)
        return _put_together(value, nodes, released)

    async def aredact(self, value: Any) -> Any:
        """Return the copy without blocking the event loop."""
        nodes = self._nodes(value)
        released = await self.redactor.apostprocess_nodes(nodes, self.question)
        return _put_together(value, nodes, released)

    def _nodes(self, value: Any) -> list[NodeWithScore]:
        """Make one node of all texts of a value, and one of each."""
        texts = texts_in(value, _rebuild)
        if not texts:
            return []
        whole = "\n".join(texts)
        digest = blake2b(whole.encode("utf-8", "surrogatepass"), key=_KEY)
        metadata = metadata_of_any(self.redactor.policy)
        source = RelatedNodeInfo(node_id=digest.hexdigest())
        ids = [_WHOLE, *(f"{_WHOLE}-{index}" for index in range(len(texts)))]
        return [
            NodeWithScore(
                node=TextNode(
                    id_=identity,
                    text=text,
                    metadata=metadata,
                    relationships={NodeRelationship.SOURCE: source},
                )
            )
            for identity, text in zip(ids, (whole, *texts), strict=True)
        ]


def _put_together(
    value: Any, nodes: list[NodeWithScore], released: list[NodeWithScore]
) -> Any:
    """Build the copy; nothing is released where the texts together are not."""
    left = {scored.node.node_id: _text(scored) for scored in released}
    texts = {_text(scored): left.get(scored.node.node_id) for scored in nodes[1:]}
    rewrite: Callable[[str], str | None] = texts.get
    if _WHOLE not in left:
        rewrite = _nothing
    return rewrite_value(value, rewrite, withheld=NOTHING, rebuild=_rebuild)


def _text(scored: NodeWithScore) -> str:
    return scored.node.get_content(MetadataMode.NONE)


def _nothing(_: str) -> None:
    """Release nothing of a text."""


def _rebuild(value: Any, recurse: Recurse) -> Any:
    """Rebuild the objects of LlamaIndex."""
    for kind, build in _BUILDERS.items():
        if isinstance(value, kind):
            return build(value, recurse)
    return NotImplemented


def _event(event: Event, recurse: Recurse) -> Event:
    """Keep the type of an event, by which a workflow knows it."""
    kind = type(event)
    given = {name: recurse(getattr(event, name)) for name in kind.model_fields}
    try:
        return kind(**given, **recurse(dict(event.items())))
    except (ValidationError, TypeError):
        pass  # the error quotes what it was given
    raise UsageError(
        f"A guarded tool wrote a {kind.__name__}, which cannot be redacted.",
        hint="Give its fields types that take redacted text.",
    )


def _message(message: ChatMessage, recurse: Recurse) -> ChatMessage:
    text = "\n".join(
        block.text for block in message.blocks if isinstance(block, TextBlock)
    )
    blocks: list[Any] = [TextBlock(text=recurse(text))] if text else []
    blocks += [
        ToolCallBlock(
            tool_call_id=block.tool_call_id,
            tool_name=block.tool_name,
            tool_kwargs=recurse(block.tool_kwargs),
        )
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ]
    call = message.additional_kwargs.get("tool_call_id")
    kept = {"tool_call_id": call} if isinstance(call, str) else {}
    return ChatMessage(role=message.role, blocks=blocks, additional_kwargs=kept)


def _node(node: BaseNode, recurse: Recurse) -> TextNode:
    return TextNode(text=recurse(node.get_content(MetadataMode.NONE)))


_BUILDERS: Mapping[type, Callable[[Any, Recurse], Any]] = {
    Event: _event,
    ChatMessage: _message,
    NodeWithScore: lambda value, recurse: NodeWithScore(
        node=_node(value.node, recurse), score=value.score
    ),
    BaseNode: _node,
}
