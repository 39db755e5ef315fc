"""
What is planted, and where it is looked for.

Each canary stands in one place of what the host stores, and nowhere else. None of them
may be seen in any surface, except where the host itself shows it before it calls us.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from llama_index.core.schema import (
    ImageDocument,
    IndexNode,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from sdrag import Principal

from ..support.scripted import answer_control, canary

TEXT = canary("a name in the text")
TITLE = canary("a name in allowed metadata")
META = canary("metadata nobody allowed")
IDENTITY = canary("a name in an id")
NEIGHBOUR = canary("a neighbour's metadata")
WINDOW = canary("a sentence window")
OBJECT = canary("the object behind an index node")
TEMPLATE = canary("a name in a node's template")
POLICY = canary("the words of a constraint")
ASKER = canary("who asks")
CANARIES = (
    *(TEXT, TITLE, META, IDENTITY, NEIGHBOUR, WINDOW, OBJECT, TEMPLATE, POLICY),
    ASKER,
)

RAW = f"On the quay {TEXT} saw two men unload crates at dawn."
CLEAN = "The harbour opens at six and closes at nine."
QUERY = "Who saw the men on the quay?"
SETTINGS = {
    "constraints": [{"id": "names", "text": f"Remove {POLICY} names", "always": True}],
    "metadata": {"allow": ["source", "title"]},
}
RESTORED = SETTINGS | {
    "constraints": [
        {**rule, "unless": {"roles": ["clerk"]}} for rule in SETTINGS["constraints"]
    ],
    "disclosure": {"restore": True},
}
CLERK = Principal(ASKER, roles=frozenset({"clerk"}))
_NAMES = (TEXT, TITLE, IDENTITY, OBJECT, TEMPLATE)
_METADATA = {
    "source": "log.txt",
    "title": f"Seen by {TITLE}",
    "author": META,
    "window": f"{RAW} {WINDOW}",
    "original_text": f"{RAW} {WINDOW}",
}


def reply(prompt: str) -> str:
    """Name every canary that stands in the prompt, as a good model would; loudly."""
    logging.getLogger("provider").debug("Request: %s", prompt, extra={"body": prompt})
    warnings.warn(f"Deprecated in {prompt}", stacklevel=2)
    found = [name for name in _NAMES if name in prompt]
    verdicts = {"verdicts": [{"constraint": "names", "spans": found}]}
    return answer_control(prompt, json.dumps(verdicts))


def planted_documents() -> list[Document]:
    return [
        Document(
            id=f"doc-{IDENTITY}",
            page_content=f"{RAW} {IDENTITY}",
            metadata={**_METADATA},
        ),
        Document(id="doc-2", page_content=CLEAN, metadata={"source": "hours.txt"}),
    ]


def planted_nodes() -> list[NodeWithScore]:
    raw = TextNode(
        id_=f"node-{IDENTITY}",
        text=f"{RAW} {IDENTITY}",
        metadata={**_METADATA},
        embedding=[0.25, 0.5],
        text_template=f"Told by {TEMPLATE}\n{{metadata_str}}\n\n{{content}}",
        metadata_template=f"{{key}} (by {TEMPLATE}): {{value}}",
        metadata_separator=f"; {TEMPLATE}; ",
    )
    raw.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(
        node_id="node-2", metadata={"author": NEIGHBOUR}, hash=NEIGHBOUR
    )
    behind = IndexNode(
        id_="node-3",
        text=CLEAN,
        index_id="inner",
        obj=TextNode(id_="node-4", text=f"{CLEAN} {OBJECT}"),
    )
    image = ImageDocument(id_="node-5", text=CLEAN, image=f"base64{META}")
    clean = TextNode(id_="node-2", text=CLEAN)
    return [
        NodeWithScore(node=node, score=score)
        for node, score in ((raw, 0.9), (behind, 0.8), (image, 0.7), (clean, 0.6))
    ]


def leaked(value: object) -> set[str]:
    """Return the canaries that stand anywhere in a value."""
    text = "\n".join(_texts(value, depth=0))
    return {name for name in CANARIES if name in text}


def _texts(value: Any, depth: int) -> Iterator[str]:
    """Render a value in every way in which it could be read, to a depth."""
    yield repr(value)
    yield str(value)
    if depth > 6:
        return
    if isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(key, depth + 1)
            yield from _texts(inner, depth + 1)
    elif isinstance(value, (list, tuple, set)):
        for inner in value:
            yield from _texts(inner, depth + 1)
    elif isinstance(value, BaseException):
        yield from _texts(value.__context__, depth + 1)
        yield from _texts(value.__cause__, depth + 1)
        yield from _texts(value.args, depth + 1)
    elif isinstance(value, (Document, NodeWithScore, BaseMessage, TextNode)):
        yield from _texts(value.model_dump(), depth + 1)
    elif hasattr(value, "model_dump") and not isinstance(value, type):
        yield str(value.model_dump())
