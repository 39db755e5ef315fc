"""Transforms that are right for a batch work in a worker of Ray."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

POLICY = {"constraints": ["Remove the names of witnesses"]}
TEXT = "The witness Anna Karlsson saw two men."


def said(framework: str, name: str, **given: Any) -> str:
    """Return what a transform says when it is called in a worker."""

    def call() -> str:
        wrapper = getattr(import_module(framework), name)
        try:
            if framework == "llamaindex_sdrag":
                schema = import_module("llama_index.core.schema")
                wrapper(policy=POLICY, **given)([schema.TextNode(text=TEXT)])
            else:
                documents = import_module("langchain_core.documents")
                made = [documents.Document(TEXT)]
                wrapper(policy=POLICY, **given).transform_documents(made)
        except Exception as error:  # noqa: BLE001 -- what it is, the test says
            return f"{type(error).__name__}: {error}"
        return "done"

    ray: Any = import_module("ray")
    return str(ray.get(ray.remote(call).remote()))


BOTH = pytest.mark.parametrize("framework", ["llamaindex_sdrag", "langchain_sdrag"])


@pytest.mark.slow
@BOTH
def test_what_is_right_for_each_batch_works_in_a_worker(
    ray_pool, framework, tmp_path: Path
) -> None:
    """Scanning, and binding into a state that others see; then a view of it."""
    state = str(tmp_path / "state.sqlite")

    assert said(framework, "InjectionScanner") == "done"
    assert said(framework, "ConstraintBinder", state=state) == "done"
    assert said(framework, "RedactingTransformer", state=state) == "done"
