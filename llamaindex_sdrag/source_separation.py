"""
Context assembly: the prompt says what is data, between marks that data cannot forge.

`separated_prompt` is a question-answering prompt for a synthesizer. LlamaIndex hands
it the chunks as one text, so they stand between one pair of marks, and what is said of
them after it; where a host joins nodes itself, `separated_sources` gives each its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.prompts import PromptTemplate
from llama_index.core.schema import NodeWithScore

from llamaindex_sdrag.convert import passages_of
from sdrag.guardrails.notices import lifted
from sdrag.guardrails.separation import INSTRUCTION, separated, with_citations
from sdrag.policy import PolicySource
from sdrag.vocabulary import Passage

__all__ = ["separated_prompt", "separated_sources"]


def separated_sources(nodes: Sequence[NodeWithScore]) -> str:
    """Join nodes into the part of a prompt that the instruction speaks of."""
    return separated(passages_of(nodes))


def separated_prompt(
    instruction: str = "", *, policy: PolicySource | None = None
) -> PromptTemplate:
    """
    Return a template over `context_str` and `query_str`.

    Example:
        ```python
        get_response_synthesizer(llm=llm, text_qa_template=separated_prompt())
        ```

    Args:
        instruction: What the host adds.
        policy: Where it has a `citations` section, the prompt asks for citations in
            its format.

    Raises:
        PolicyError: The policy cannot be read.
    """
    asked = with_citations(instruction, policy)
    template = PromptTemplate(
        "{separation}\n\n{instruction}\n\n{context_str}\n\n[[QUESTION]]\n{query_str}",
        function_mappings={"context_str": _marked},
    )
    return template.partial_format(separation=INSTRUCTION, instruction=asked)


def _marked(**values: Any) -> str:
    notice, context = lifted(str(values["context_str"]))
    parts = [Passage("context", context), Passage("notice", notice)]
    return separated(parts if notice else parts[:1])
