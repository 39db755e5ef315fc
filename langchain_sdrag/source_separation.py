"""
Context assembly: the prompt says what is data, between fences that data cannot forge.

`separated_prompt` is a prompt template whose instruction is filled in already; its
`sources` come from `separated_sources`, with fences drawn at random for each request.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate

from langchain_sdrag.convert import passages_of
from sdrag.guardrails.separation import (
    INSTRUCTION,
    add_citation_instruction,
    cites_ids,
    join_sources,
)
from sdrag.policy import PolicySource


def separated_sources(
    documents: Sequence[Document], *, policy: PolicySource | None = None
) -> str:
    """
    Join documents into the `sources` of the prompt.

    Args:
        documents: As retrieved.
        policy: Where its `citations` refer to ids, the fences show them.

    Example:
        ```python
        sources = retriever | separated_sources
        given = {"sources": sources, "question": RunnablePassthrough()}
        chain = given | separated_prompt() | llm
        ```

    Raises:
        PolicyError: The policy cannot be read.
    """
    return join_sources(passages_of(documents), by_id=cites_ids(policy))


def separated_prompt(
    instruction: str = "", *, policy: PolicySource | None = None
) -> ChatPromptTemplate:
    """
    Return a template over `sources` and `question`.

    Args:
        instruction: What the host adds.
        policy: Where it has a `citations` section, the prompt asks for citations in
            its format.

    Raises:
        PolicyError: The policy cannot be read.
    """
    asked = add_citation_instruction(instruction, policy)
    template = ChatPromptTemplate.from_messages(
        [
            ("system", "{separation}\n\n{instruction}"),
            ("user", "{sources}\n\n[[QUESTION]]\n{question}"),
        ]
    )
    return template.partial(separation=INSTRUCTION, instruction=asked)
