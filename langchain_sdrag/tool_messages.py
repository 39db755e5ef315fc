"""
Tool messages taken apart into documents, and put together from what was released.

Documents in the artifact are redacted with their metadata, and the content is made anew
of those that are released. Content without documents has no metadata, so it is given
all that any constraint's `where` could ask for: every constraint holds for it. What is
neither text nor a document cannot be read and is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.documents import Document
from langchain_core.messages import ToolMessage

from sdrag.policy import Policy, metadata_of_any
from sdrag.value_redactor import NOTHING

__all__ = ["put_together", "retrieved_in"]


def retrieved_in(message: ToolMessage, policy: Policy) -> list[Document]:
    """Return the documents of the artifact, or the text as one document."""
    found = _documents(message)
    if found is not None:
        return found
    text = str(message.text)
    return (
        [Document(page_content=text, metadata=metadata_of_any(policy))] if text else []
    )


def put_together(message: ToolMessage, released: Sequence[Document]) -> ToolMessage:
    """Build the message that model, state and checkpointer see."""
    return ToolMessage(
        id=message.id,
        name=message.name,
        tool_call_id=message.tool_call_id,
        status=message.status,
        content="\n\n".join(one.page_content for one in released) or NOTHING,
        artifact=None if _documents(message) is None else list(released),
    )


def _documents(message: ToolMessage) -> list[Document] | None:
    artifact = message.artifact
    if not isinstance(artifact, (list, tuple)) or not artifact:
        return None
    if not all(isinstance(item, Document) for item in artifact):
        return None
    return list(artifact)
