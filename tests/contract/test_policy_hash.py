"""
What a policy is named by: a hash under a key.

It groups the events of one policy, and changes with the policy. Whoever sees it cannot
test a guess of the constraints against it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.ingestion import IngestionCache, IngestionPipeline
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Options, Principal, acting_as
from sdrag.engine import policy_hash
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage

from ..support.doubles import LlamaIndexModel
from ..support.faces import Documents, Nodes, Scenario

WORDS = "Remove the names of witnesses"
ASKER = Principal("ann", roles=frozenset({"clerk"}))
POLICY = {"constraints": [{"id": "names", "text": WORDS, "always": True}]}
OTHER = {"constraints": [{"id": "names", "text": "Remove phone numbers"}]}
SCENARIO = Scenario("s", passages=(Passage("p", "The witness Anna Rowan saw it."),))
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Used:
    """A wrapper that was used once, and the names of its policy that left."""

    wrapper: Any
    names: list[str]


Face = Callable[[Any, Any], Used]


def langchain_retriever(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Documents(scenario=SCENARIO),
        policy=policy,
        state=state,
        options=Options(audit=events.append),
    )
    made.invoke("q")
    return Used(made, [made.policy_hash, *_names(events)])


def langchain_compressor(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = langchain_sdrag.SelectiveDisclosureCompressor(
        policy=policy, state=state, options=Options(audit=events.append)
    )
    made.compress_documents([Document("Text.")], "q")
    return Used(made, [made.policy_hash, *_names(events)])


def langchain_binder(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = langchain_sdrag.ConstraintBinder(
        policy=policy, state=state, options=Options(audit=events.append)
    )
    made.transform_documents([Document("Text.", id="p")])
    return Used(made, _names(events))


def langchain_view(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = langchain_sdrag.RedactingTransformer(
        policy=policy, state=state, options=Options(audit=events.append)
    )
    made.transform_documents([Document("Text.", id="p")])
    return Used(made, _names(events))


def langchain_guard(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = langchain_sdrag.AnswerGuard(
        policy=policy, state=state, options=Options(audit=events.append)
    )
    made.invoke({"question": "q", "context": [Document("Text.")], "answer": "Text."})
    return Used(made, [made.policy_hash, *_names(events)])


def llamaindex_retriever(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Nodes(SCENARIO),
        policy=policy,
        state=state,
        options=Options(audit=events.append),
    )
    made.retrieve("q")
    return Used(made, [made.policy_hash, *_names(events)])


def llamaindex_postprocessor(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = llamaindex_sdrag.SelectiveDisclosurePostprocessor(
        policy=policy, state=state, options=Options(audit=events.append)
    )
    made.postprocess_nodes([NodeWithScore(node=TextNode(text="Text."))], query_str="q")
    return Used(made, [made.policy_hash, *_names(events)])


def llamaindex_binder(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = llamaindex_sdrag.ConstraintBinder(
        policy=policy, state=state, options=Options(audit=events.append)
    )
    made([TextNode(text="Text.")])
    return Used(made, [made.to_dict()["policy_hash"], *_names(events)])


def llamaindex_view(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = llamaindex_sdrag.RedactingTransformer(
        policy=policy, state=state, options=Options(audit=events.append)
    )
    made([TextNode(text="Text.")])
    return Used(made, [made.to_dict()["policy_hash"], *_names(events)])


def llamaindex_guard(policy: Any, state: Any) -> Used:
    events: list[Any] = []
    made = llamaindex_sdrag.AnswerGuard(
        get_response_synthesizer(llm=LlamaIndexModel(lambda _: "Text.")),
        policy=policy,
        state=state,
        options=Options(audit=events.append),
    )
    made.synthesize("q", [NodeWithScore(node=TextNode(text="Text."))])
    return Used(made, _names(events))


FACES: tuple[Face, ...] = (
    langchain_retriever,
    langchain_compressor,
    langchain_binder,
    langchain_view,
    langchain_guard,
    llamaindex_retriever,
    llamaindex_postprocessor,
    llamaindex_binder,
    llamaindex_view,
    llamaindex_guard,
)
every_face = pytest.mark.parametrize("face", FACES)


def _names(events: list[Any]) -> list[str]:
    assert events
    return [event.policy_hash for event in events]


def name(face: Face, policy: Any, state: Any) -> str:
    """Return the one name that a wrapper gives its policy, wherever that leaves."""
    used = face(policy, state)
    (only,) = set(used.names)
    assert only in repr(used.wrapper)
    return only


@every_face
def test_states_name_one_policy_differently(face, tmp_path):
    first, second = str(tmp_path / "a.sqlite"), str(tmp_path / "b.sqlite")

    assert name(face, POLICY, first) == name(face, POLICY, first)
    assert name(face, POLICY, first) != name(face, POLICY, second)
    assert name(face, POLICY, first) != name(face, OTHER, first)


@every_face
def test_without_a_state_on_disk_the_process_names_it(face):
    assert name(face, POLICY, open_state()) == policy_hash(Policy.read(POLICY))


def test_wrappers_of_one_state_give_one_name(tmp_path):
    """Their events are of one policy, in both frameworks."""
    state = str(tmp_path / "sdrag.sqlite")

    assert len({name(face, POLICY, state) for face in FACES}) == 1


def test_another_process_with_the_state_gives_the_same_name(tmp_path):
    state = open_state(tmp_path / "sdrag.sqlite")
    policy = Policy.read(POLICY)
    code = f"""
from sdrag.engine import policy_hash
from sdrag.policy import Policy
from sdrag.state import open_state
policy = Policy.read({POLICY!r})
print(policy_hash(policy, open_state({state.path!r})), policy_hash(policy))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "shared")},
    )

    with_state, without = done.stdout.split()
    assert with_state == policy_hash(policy, state)
    assert without != policy_hash(policy)


@pytest.mark.parametrize("changed", [False, True])
def test_an_ingestion_cache_goes_by_it(changed, tmp_path):
    """A cache on disk serves the same policy and state again, and no other policy."""
    state, kept = str(tmp_path / "sdrag.sqlite"), str(tmp_path / "cache.json")
    nodes = [TextNode(text="The witness Anna Rowan saw it.", id_="n")]

    def ingested(policy: Mapping[str, Any], cache: IngestionCache) -> int:
        events: list[Any] = []
        view = llamaindex_sdrag.RedactingTransformer(
            policy=policy, state=state, options=Options(audit=events.append)
        )
        IngestionPipeline(transformations=[view], cache=cache).run(nodes=nodes)
        cache.persist(kept)
        return len(events)

    assert ingested(POLICY, IngestionCache()) == 1
    again = ingested(
        OTHER if changed else POLICY, IngestionCache.from_persist_path(kept)
    )
    assert again == changed


def guesses() -> Iterator[str]:
    """Give the bare digests by which a guess of a secret text would be confirmed."""
    policy = Policy.read(POLICY)
    said = policy.model_dump(mode="json")
    bare = policy.model_dump(
        mode="json", exclude={"constraints": {"__all__": {"examples"}}}
    )
    texts = [
        *(json.dumps(one, sort_keys=True) for one in (said, bare)),
        WORDS,
        policy.hash,
        ASKER.id,
        repr(ASKER),
    ]
    for text in texts:
        for how in ("md5", "sha1", "sha256", "sha512", "blake2s", "blake2b"):
            yield hashlib.new(how, text.encode()).hexdigest()[:12]
        for size in (8, 12, 16, 32):
            yield hashlib.blake2b(text.encode(), digest_size=size).hexdigest()[:12]
    yield policy.hash


@every_face
def test_no_bare_digest_leaves(face, tmp_path, caplog):
    """Not in a name, an event, a repr, a dump, a log or the state."""
    caplog.set_level(logging.DEBUG)
    with acting_as(ASKER):
        used = face(POLICY, str(tmp_path / "sdrag.sqlite"))

    shown = [*used.names, repr(used.wrapper), caplog.text]
    shown += [str(vars(record)) for record in caplog.records]
    if hasattr(used.wrapper, "model_dump"):
        shown.append(str(used.wrapper.model_dump()))
    for file in tmp_path.iterdir():
        shown += [file.read_bytes().hex(), file.read_bytes().decode("latin-1")]
    found = {guess for guess in guesses() if any(guess in one for one in shown)}

    assert found == set()


def test_a_policy_shows_no_digest_of_itself():
    policy = Policy.read(POLICY)

    assert policy.hash not in f"{policy!r}{policy}"


BARE = {
    "sdrag/policy/document.py": "compared in the process, and hashed again with a key",
    "sdrag/embeddings/__init__.py": "of weights that everybody has",
}
"""The files that make digests without a key, and why nobody learns from one."""
_BARE = {"md5", "sha1", "sha224", "sha256", "sha384", "sha512", "new", "file_digest"}
_KEYED = {"blake2b", "blake2s"}


def packages() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("shared/sdrag", "langchain_sdrag", "llamaindex_sdrag"):
        for file in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            yield str(file.relative_to(ROOT)).removeprefix("shared/"), tree


def makes_a_bare_digest(tree: ast.Module) -> bool:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    whole = any(
        alias.name == "hashlib"
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    )
    if not whole and not any(node.module == "hashlib" for node in imports):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            named = node.func
            called = named.attr if isinstance(named, ast.Attribute) else None
            called = named.id if isinstance(named, ast.Name) else called
            keyed = any(given.arg == "key" for given in node.keywords)
            if called in _BARE or (called in _KEYED and not keyed):
                return True
    return False


def test_digests_have_keys():
    """A short text is guessed, hashed and compared, unless there is a key."""
    assert {name for name, tree in packages() if makes_a_bare_digest(tree)} == {*BARE}


def test_no_adapter_reads_the_bare_hash_of_a_policy():
    reads = {
        name
        for name, tree in packages()
        if not name.startswith("sdrag/") or name.startswith("sdrag/cli/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "hash"
    }

    assert reads == set()
