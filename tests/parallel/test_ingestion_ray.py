"""LlamaIndex' pipeline on Ray: what may run in its workers, and what they are sent."""

from __future__ import annotations

import importlib.util
import json
import pickle
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("llama_index.ingestion.ray")

from llama_index.core.ingestion import run_transformations
from llama_index.ingestion.ray import RayIngestionPipeline, RayTransformComponent
from llama_index.ingestion.ray.transform import TransformActor
from llama_index.ingestion.ray.utils import (
    ray_deserialize_node_batch,
    ray_serialize_node_batch,
)

from llamaindex_sdrag import LinkageMasker, SelectiveDisclosureRetriever
from sdrag.errors import UsageError

SCRIPT = Path(__file__).with_name("ingestion_on_ray.py")
NAMES = ("Karlsson", "Krastev")
RULE = "names of witnesses"


@pytest.fixture
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ingest", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_batches(components: list[RayTransformComponent], nodes: list[Any]) -> list[Any]:
    """Do what workers do, with a batch of one node at a time, in this process."""
    for component in components:
        kind, given = component.transform_class, component.transform_kwargs
        actors = [TransformActor(kind, given) for _ in range(2)]
        tables = [
            actors[number % 2](ray_serialize_node_batch([node]))
            for number, node in enumerate(nodes)
        ]
        nodes = [node for table in tables for node in ray_deserialize_node_batch(table)]
    return nodes


def in_one_process(components: list[RayTransformComponent], nodes: list[Any]) -> Any:
    """Do what LlamaIndex' own pipeline does."""
    made = [one.transform_class(**one.transform_kwargs) for one in components]
    return run_transformations(nodes, made, in_place=False)


def retrieved(example: ModuleType, nodes: list[Any], state: Path) -> list[str]:
    index = example.VectorStoreIndex(nodes, embed_model=example.LocalEmbeddings())
    retriever = SelectiveDisclosureRetriever(
        base_retriever=index.as_retriever(similarity_top_k=4),
        policy=example.POLICY,
        state=state,
    )
    return sorted(found.text for found in retriever.retrieve(example.QUESTION))


def test_batches_come_to_what_the_whole_comes_to(example, tmp_path) -> None:
    """Each transform of the example is right on a batch; nodes survive the way."""
    masked = list(example.masked(example.DOCUMENTS))
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"

    apart = in_batches(example.components(ours), masked)
    whole = in_one_process(example.components(theirs), masked)

    assert [one.text for one in apart] == [one.text for one in whole]
    assert [one.node_id for one in apart] == [one.node_id for one in whole]
    assert len(apart) == 4
    assert [one.embedding for one in apart] == [
        pytest.approx(one.embedding, abs=1e-5) for one in whole
    ]
    found = retrieved(example, apart, ours)
    assert found == retrieved(example, whole, theirs)
    assert "two men" in str(found)
    assert not [name for name in NAMES if name in str(found)]


def test_workers_are_sent_paths(example, tmp_path) -> None:
    """No policy, no key and no text is in what is sent, or in what is printed of it."""
    for component in example.components(tmp_path / "state"):
        for shown in (repr(component), str(component), str(pickle.dumps(component))):
            assert RULE not in shown
            assert not [name for name in NAMES if name in shown]


def test_a_plan_is_not_sent(example) -> None:
    """It holds the names that it masks; the error says so."""
    fitted = LinkageMasker(policy=example.POLICY, whole_corpus=True).fit(
        example.DOCUMENTS
    )
    component = RayTransformComponent(
        LinkageMasker, transform_kwargs={"policy": example.POLICY, "fitted": fitted}
    )

    with pytest.raises(UsageError, match="never pickled") as refused:
        pickle.dumps(component)

    assert not [name for name in NAMES if name in f"{refused.value}{component!r}"]


@pytest.mark.slow
def test_the_example_runs(ray_pool, example, capsys) -> None:
    """On Ray itself; no name, and no rule, is printed or in the logs of Ray."""
    ray: Any = importlib.import_module("ray")

    example.main()

    printed = capsys.readouterr().out
    assert "two men" in printed
    time.sleep(1)  # logs are written by other processes
    session = Path(ray._private.worker._global_node.get_session_dir_path())
    logs = [path for path in (session / "logs").rglob("*") if path.is_file()]
    assert logs
    for word in (*NAMES, RULE):
        assert word not in printed
        assert not [path for path in logs if word.encode() in path.read_bytes()]


@pytest.mark.slow
def test_a_corpus_is_not_masked_batch_by_batch(ray_pool, example) -> None:
    """The pipeline stops, and says what to do; no text is in the error."""
    masker = RayTransformComponent(
        LinkageMasker, policy=example.POLICY, whole_corpus=True
    )
    pipeline = RayIngestionPipeline(transformations=[masker])

    with pytest.raises(Exception, match="Call `fit` with the whole corpus") as stopped:
        pipeline.run(documents=example.DOCUMENTS)

    assert not [name for name in NAMES if name in json.dumps(str(stopped.value))]
