"""
Context assembly: the prompt says what is data, between fences that data cannot forge.

LlamaIndex joins nodes into one text before it fills a prompt, and may split that text
again. So each node gets fences: a `SourceSeparator` numbers the nodes of a request, and
every synthesizer and chat engine then prints one source for each node.
`separated_prompt` is the template around them. It mends fences that were torn, and adds
what is missing. Where a host joins nodes itself, `separated_sources` does all of it.

The text of a numbered node stays as it is. Only what a model reads of it has fences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import PromptTemplate
from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeWithScore,
    QueryBundle,
    TextNode,
)
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of, passages_of
from sdrag.guardrails.notices import is_notice
from sdrag.guardrails.separation import (
    INSTRUCTION,
    add_citation_instruction,
    cites_ids,
    delimit_source,
    join_sources,
    label_of,
    new_code,
    restore_delimiters,
)
from sdrag.policy import PolicySource

Purpose = Literal["answer", "refine", "summary", "chat", "chat_refine"]
"""Which template of LlamaIndex it is: `text_qa_template`, `refine_template`,
`summary_template`, `context_template` or `context_refine_template`."""

_QUESTION = "[[QUESTION]]\n{query_str}"
_REFINED = (
    "An answer was given before these sources were read:\n\n{existing_answer}\n\n"
    "Refine it where they help; else repeat it. Keep its citations."
)
_SUMMARIZED = "Where a source itself cites sources by numbers, keep these citations."
_ENDS: dict[Purpose, tuple[str, ...]] = {
    "answer": ("{context_str}", _QUESTION),
    "refine": ("{context_msg}", _REFINED, _QUESTION),
    "summary": (_SUMMARIZED, "{context_str}", _QUESTION),
    "chat": ("{context_str}",),
    "chat_refine": ("{context_msg}", _REFINED),
}
_FIRST: tuple[Purpose, ...] = ("answer", "chat")


class NumberedNode(TextNode):
    """A node that a model reads between the fences of its source."""

    _label: str = PrivateAttr()
    _code: str = PrivateAttr()
    _original: BaseNode = PrivateAttr()

    @classmethod
    def class_name(cls) -> str:
        """Return the name of a plain node: fences are of one request, never stored."""
        return TextNode.class_name()

    @classmethod
    def of(cls, node: BaseNode, label: str, code: str) -> Self:
        """Number a node."""
        names = {name for name in TextNode.model_fields if hasattr(node, name)}
        fields = {name: getattr(node, name) for name in names}
        numbered = cls(**fields | {"text": node.get_content(MetadataMode.NONE)})
        numbered._label, numbered._code, numbered._original = label, code, node
        return numbered

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> str:
        """Return the text; for a model, what the node prints between its fences."""
        text = super().get_content(metadata_mode)
        if metadata_mode != MetadataMode.LLM:
            return text
        return delimit_source(text, self._label, self._code)


class SourceSeparator(BaseNodePostprocessor):
    """
    Number the nodes of a request, so that a model reads each between fences of its own.

    Put it last: the numbers are those that a citation `[2]` refers to.

    Example:
        ```python
        engine = RetrieverQueryEngine.from_args(
            retriever,
            llm=llm,
            node_postprocessors=[SourceSeparator()],
            text_qa_template=separated_prompt(policy="policy.yaml"),
        )
        ```

    Args:
        policy: Where its `citations` refer to ids, the fences show them.

    Raises:
        PolicyError: The policy cannot be read.
    """

    _by_id: bool = PrivateAttr(default=False)

    def __init__(self, *, policy: PolicySource | None = None) -> None:
        super().__init__()
        self._by_id = cites_ids(policy)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "SourceSeparator"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return number_nodes(nodes, by_id=self._by_id)


def number_nodes(
    nodes: Sequence[NodeWithScore], *, by_id: bool = False
) -> list[NodeWithScore]:
    """Number nodes from 1, in their order and anew; notices of ours have no number."""
    code, number, result = new_code(), 0, []
    for scored in strip_numbers(nodes):
        passage = passage_of(scored.node)
        if is_notice(passage):
            result.append(scored)
            continue
        number += 1
        label = label_of(passage, number, by_id=by_id)
        node = NumberedNode.of(scored.node, label, code)
        result.append(NodeWithScore(node=node, score=scored.score))
    return result


def strip_numbers(nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """Return nodes as they were before they were numbered."""
    return [
        NodeWithScore(node=scored.node._original, score=scored.score)  # noqa: SLF001 -- of this very module
        if isinstance(scored.node, NumberedNode)
        else scored
        for scored in nodes
    ]


def separated_sources(
    nodes: Sequence[NodeWithScore], *, policy: PolicySource | None = None
) -> str:
    """
    Join nodes into the part of a prompt that the instruction speaks of.

    Args:
        nodes: As retrieved.
        policy: Where its `citations` refer to ids, the fences show them.

    Raises:
        PolicyError: The policy cannot be read.
    """
    return join_sources(passages_of(nodes), by_id=cites_ids(policy))


def separated_prompt(
    instruction: str = "",
    *,
    policy: PolicySource | None = None,
    purpose: Purpose = "answer",
) -> PromptTemplate:
    """
    Return a template for nodes that a `SourceSeparator` has numbered.

    Nodes without numbers are one source, the first.

    Example:
        ```python
        get_response_synthesizer(llm=llm, text_qa_template=separated_prompt())
        ```

    Args:
        instruction: What the host adds.
        policy: Where it has a `citations` section, the prompt asks for citations in
            its format.
        purpose: What the template is for.

    Raises:
        PolicyError: The policy cannot be read.
    """
    asked = add_citation_instruction(instruction, policy)
    # The text is whole: chat engines read it alone, and not what was filled in before.
    text = "\n\n".join(filter(None, (INSTRUCTION, asked, *_ENDS[purpose])))
    key = "context_msg" if "{context_msg}" in _ENDS[purpose] else "context_str"

    # What is read after an answer was begun is no source where it has no fences.
    label = {"label": "1"} if purpose in _FIRST else {}

    def mend(**values: Any) -> str:
        return restore_delimiters(str(values.get(key, "")), **label)

    return PromptTemplate(text, function_mappings={key: mend})
