"""What needs a whole corpus refuses to work on the batches of a worker."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sdrag.state import open_state

POLICY = {"constraints": ["Remove the names of witnesses"]}
TEXT = "The witness Anna Karlsson saw two men."


def said(framework: str, name: str, **given: Any) -> str:
    """Return what a transform says when it is called, in a worker or here."""

    def call() -> str:
        wrapper = getattr(import_module(framework), name)
        made_here = {key: value() for key, value in given.items() if callable(value)}
        arguments = {**given, **made_here}
        try:
            if framework == "llamaindex_sdrag":
                schema = import_module("llama_index.core.schema")
                wrapper(policy=POLICY, **arguments)([schema.TextNode(text=TEXT)])
            else:
                documents = import_module("langchain_core.documents")
                made = [documents.Document(TEXT)]
                wrapper(policy=POLICY, **arguments).transform_documents(made)
        except Exception as error:  # noqa: BLE001 -- what it is, the test says
            return f"{type(error).__name__}: {error}"
        return "done"

    if given.pop("here", False):
        return call()
    ray: Any = import_module("ray")
    return str(ray.get(ray.remote(call).remote()))


BOTH = pytest.mark.parametrize("framework", ["llamaindex_sdrag", "langchain_sdrag"])
ALONE = [
    ("LinkageMasker", {"whole_corpus": True}, "Call `fit` with the whole corpus"),
    ("RedactedView", {}, "Bind the whole corpus first"),
    ("ConstraintBinder", {"state": None}, "Pass the path or the URL of a state"),
    ("ConstraintBinder", {"state": open_state}, "Pass the path or the URL of a state"),
]


@BOTH
@pytest.mark.parametrize(("name", "given", "hint"), ALONE)
def test_a_batch_is_not_taken_for_a_corpus(
    ray_here, framework, name, given, hint
) -> None:
    """In a worker the error says what to do; the process that hands out may do it."""
    told = said(framework, name, **given)

    assert told.startswith("UsageError:")
    assert hint in told
    assert "Karlsson" not in told
    assert said(framework, name, here=True, **given) == "done"


@BOTH
def test_what_is_right_for_each_batch_works_in_a_worker(
    ray_here, framework, tmp_path: Path
) -> None:
    """Scanning, and binding into a state that others see; then a view of it."""
    state = str(tmp_path / "state.sqlite")

    assert said(framework, "InjectionScanner") == "done"
    assert said(framework, "ConstraintBinder", state=state) == "done"
    assert said(framework, "RedactedView", state=state) == "done"
