"""
What a policy is named by: a hash under a key.

It groups the events of one policy, and changes with the policy. Whoever sees it cannot
test a guess of the constraints against it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
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
from sdrag.engine import Engine
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage

from ..support.doubles import LlamaIndexModel
from ..support.faces import BUILDERS, Scenario, ask
from ..support.wrappers import build

WORDS = "Remove the names of witnesses"
ASKER = Principal("ann", roles=frozenset({"clerk"}))
POLICY = {"constraints": [{"id": "names", "text": WORDS, "always": True}]}
OTHER = {"constraints": [{"id": "names", "text": "Remove phone numbers"}]}
LIFTED = {"constraints": [{**POLICY["constraints"][0], "unless": {"roles": ["clerk"]}}]}
SCENARIO = Scenario("s", passages=(Passage("p", "The witness Anna Rowan saw it."),))
ROOT = Path(__file__).parents[2]
DOCUMENT, NODE = Document("Text.", id="p"), TextNode(text="Text.")

Use = Callable[..., Any]
"""Builds a wrapper with `policy`, `state` and `audit`, uses it, and returns it."""


def asking(builder: Any) -> Use:
    def use(**arguments: Any) -> Any:
        wrapper = builder(SCENARIO, **arguments)
        ask(wrapper, SCENARIO)
        return wrapper

    return use


def transforming(kind: Any) -> Use:
    def use(**arguments: Any) -> Any:
        transformer = build(kind, **arguments)
        if kind.__module__.startswith("langchain"):
            transformer.transform_documents([DOCUMENT])
        else:
            transformer([NODE])
        return transformer

    return use


def guard_in_langchain(**arguments: Any) -> Any:
    guard = build(langchain_sdrag.AnswerGuard, **arguments)
    guard.invoke({"question": "q", "context": [DOCUMENT], "answer": "Text."})
    return guard


def guard_in_llamaindex(**arguments: Any) -> Any:
    answering = get_response_synthesizer(llm=LlamaIndexModel(lambda _: "Text."))
    guard = build(llamaindex_sdrag.AnswerGuard, answering, **arguments)
    guard.synthesize("q", [NodeWithScore(node=NODE)])
    return guard


USES: tuple[Use, ...] = (
    *map(asking, BUILDERS),
    *(
        transforming(getattr(package, name))
        for package in (langchain_sdrag, llamaindex_sdrag)
        for name in ("ConstraintBinder", "RedactingTransformer")
    ),
    guard_in_langchain,
    guard_in_llamaindex,
)
every_use = pytest.mark.parametrize("use", USES, ids=range(len(USES)))


def used(use: Use, policy: Any, state: Any) -> tuple[Any, set[str]]:
    """Use a wrapper once; return it, and the names of its policy that left."""
    events: list[Any] = []
    wrapper = use(policy=policy, state=state, audit=events.append)
    names = {event.policy_hash for event in events}
    assert names
    if hasattr(wrapper, "policy_hash"):
        names.add(wrapper.policy_hash)
    if hasattr(wrapper, "to_dict"):
        names.add(wrapper.to_dict()["policy_hash"])
    return wrapper, names


def name(use: Use, policy: Any, state: Any) -> str:
    """Return the one name that a wrapper gives its policy, wherever that leaves."""
    wrapper, names = used(use, policy, state)
    (only,) = names
    assert only in repr(wrapper)
    return only


@every_use
def test_a_wrapper_names_its_policy_by_the_key_of_its_state(use, tmp_path):
    """Without a state on disk by that of the process."""
    first, second = str(tmp_path / "a.sqlite"), str(tmp_path / "b.sqlite")

    assert name(use, POLICY, first) == Engine(POLICY, state=first).policy_hash
    assert name(use, POLICY, first) != name(use, POLICY, second)
    assert name(use, POLICY, first) != name(use, OTHER, first)
    assert name(use, POLICY, open_state()) == Engine(POLICY).policy_hash


def test_another_process_with_the_state_gives_the_same_name(tmp_path):
    state = open_state(tmp_path / "sdrag.sqlite")
    code = f"""
from sdrag.engine import Engine
for state in ({state.path!r}, None):
    print(Engine({POLICY!r}, state=state).policy_hash)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "shared")},
    )

    with_state, without = done.stdout.split()
    assert with_state == Engine(POLICY, state=state).policy_hash
    assert without != Engine(POLICY).policy_hash


@pytest.mark.parametrize("other", [POLICY, OTHER, LIFTED])
def test_an_ingestion_cache_goes_by_it(other, tmp_path):
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
    again = ingested(other, IngestionCache.from_persist_path(kept))
    assert again == (other != POLICY)


def guesses() -> Iterator[str]:
    """Give the bare digests by which a guess of a secret text would be confirmed."""
    policy = Policy.read(POLICY)
    dumped = policy.model_dump(mode="json")
    bare = policy.model_dump(
        mode="json", exclude={"constraints": {"__all__": {"examples"}}}
    )
    texts = [
        *(json.dumps(data, sort_keys=True) for data in (dumped, bare)),
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


@every_use
def test_no_bare_digest_leaves(use, tmp_path, caplog):
    """Not in a name, an event, a repr, a dump, a log or the state."""
    caplog.set_level(logging.DEBUG)
    with acting_as(ASKER):
        wrapper, names = used(use, POLICY, str(tmp_path / "sdrag.sqlite"))

    shown = [*names, repr(wrapper), caplog.text]
    shown += [str(vars(record)) for record in caplog.records]
    if hasattr(wrapper, "model_dump"):
        shown.append(str(wrapper.model_dump()))
    for file in tmp_path.iterdir():
        shown += [file.read_bytes().hex(), file.read_bytes().decode("latin-1")]

    assert not [guess for guess in guesses() if any(guess in text for text in shown)]


def test_a_policy_shows_no_digest_of_itself():
    policy = Policy.read(POLICY)

    assert policy.hash not in f"{policy!r}{policy}"
