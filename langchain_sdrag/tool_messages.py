"""
Tool messages taken apart into documents, and put together from what was released.

Documents in the artifact are judged with their metadata, and the content is made anew
of those that are released. Content without documents has no metadata, so it is given
all that any constraint's `where` could ask for: every constraint holds for it. What is
neither text nor a document cannot be judged and is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from langchain_core.documents import Document
from langchain_core.messages import ToolMessage

from sdrag.policy import Policy, metadata_of_any
from sdrag.vocabulary import Principal

__all__ = ["NOTHING", "mark_of", "put_together", "retrieved_in", "seen_by"]

NOTHING = "Nothing was found that may be disclosed."
"""The content of a message of which nothing may be disclosed."""
_MARK = "sdrag"


def retrieved_in(message: ToolMessage, policy: Policy) -> list[Document]:
    """Return what is to be judged: the artifact's documents, else the text."""
    found = _documents(message)
    if found is not None:
        return found
    text = str(message.text)
    return (
        [Document(page_content=text, metadata=metadata_of_any(policy))] if text else []
    )


def put_together(
    message: ToolMessage, released: Sequence[Document], mark: str
) -> ToolMessage:
    """Build the message that model, state and checkpointer see."""
    return ToolMessage(
        id=message.id,
        name=message.name,
        tool_call_id=message.tool_call_id,
        status=message.status,
        content="\n\n".join(one.page_content for one in released) or NOTHING,
        artifact=None if _documents(message) is None else list(released),
        additional_kwargs={_MARK: mark},
    )


def mark_of(policy: Policy, principal: Principal | None) -> str:
    """Name the policy and the principal that a message was redacted under."""
    who = "" if principal is None else _identity(principal)
    digest = blake2b(who.encode(), key=policy.hash.encode(), digest_size=8)
    return f"{policy.hash}-{digest.hexdigest()}"


def seen_by(message: ToolMessage, mark: str) -> bool:
    """Say whether the message was redacted under this mark."""
    return bool(message.additional_kwargs.get(_MARK) == mark)


def _documents(message: ToolMessage) -> list[Document] | None:
    artifact = message.artifact
    if not isinstance(artifact, (list, tuple)) or not artifact:
        return None
    if not all(isinstance(item, Document) for item in artifact):
        return None
    return list(artifact)


def _identity(principal: Principal) -> str:
    return repr(
        (
            principal.id,
            principal.tenant,
            sorted(principal.roles),
            principal.level,
            sorted(principal.attributes.items(), key=repr),
        )
    )
