"""Whatever fails, and however: nothing raw leaves, the error is named, it recovers."""

from __future__ import annotations

import asyncio
import traceback
from dataclasses import replace

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from sdrag.effects.limits import Limits
from sdrag.effects.steps import Reply
from sdrag.errors import InternalError, SdragError
from sdrag.principals import acting_as
from sdrag.state import open_state
from sdrag.vocabulary import Passage, Principal

from ..support.doubles import LangChainToyEmbeddings, LlamaIndexToyEmbedding, verdicts
from ..support.faces import (
    Documents,
    Nodes,
    Scenario,
    aask,
    ask,
    langchain_retriever,
    llamaindex_retriever,
)
from ..support.waiting import hang, let_go

SECRET = "Karlsson"
QUAY = f"On the quay the witness Anna {SECRET} saw two men unload crates at dawn."
SCENARIO = Scenario(
    "faults",
    [Passage("p", QUAY, {"source": "log.txt"}, document_id="log.txt")],
    {"constraints": ["Remove the names of witnesses"]},
    limits=Limits(seconds=0.3, attempts=1),
)
RANKED = {
    "constraints": ["Remove the names of witnesses", "Hide diagnoses"],
    "disclosure": {"top_k": 1},
}
SCANNED = {**SCENARIO.policy, "injection": {}}
EMBEDDINGS = {
    True: (LangChainToyEmbeddings, ("embed_documents", "embed_query")),
    False: (LlamaIndexToyEmbedding, ("_get_text_embedding", "_get_query_embedding")),
}


def throw(error):
    raise error


def wait():
    hang()
    return "late"


FAULTS = {
    "raises": lambda: throw(RuntimeError(QUAY)),
    "raises an error of its library": lambda: throw(OperationalError(QUAY, QUAY, None)),
    "raises an error that cannot be made again": lambda: throw(
        UnicodeDecodeError("utf-8", QUAY.encode(), 0, 1, QUAY)
    ),
    "times out": lambda: throw(TimeoutError(QUAY)),
    "cancels": lambda: throw(asyncio.CancelledError(QUAY)),
    "returns None": lambda: None,
    "returns another type": object,
    "returns too many": lambda: [QUAY] * 7,
    "returns nothing": list,
    "returns garbage": lambda: QUAY,
    "hangs": wait,
}


class Switch:
    """Does what it stands for, or a fault while there is one."""

    def __init__(self):
        self.fault = None

    def __call__(self, work):
        def do(*args, **kwargs):
            return self.fault() if self.fault else work(*args, **kwargs)

        return do


class Detecting:
    def __init__(self, switch):
        self._find = switch(lambda texts: [Reply(()) for _ in texts])

    def detect(self, texts):
        yield from ()
        return self._find(texts)


def set_up(effect, make, switch, monkeypatch):
    """Return a wrapper of which one effect is switched, and its scenario."""
    scenario, given = SCENARIO, {}
    is_langchain = make is langchain_retriever
    match effect:
        case "complete":
            reply = switch(verdicts(c1=[f"Anna {SECRET}"]))
            scenario = replace(SCENARIO, reply=reply)
        case "embed":
            scenario = replace(SCENARIO, policy=RANKED)
            kind, names = EMBEDDINGS[is_langchain]
            real = {name: switch(getattr(kind(), name)) for name in names}
            methods = {name: staticmethod(call) for name, call in real.items()}
            given["embeddings"] = type("Switched", (kind,), methods)()
        case "search":
            kind = Documents if is_langchain else Nodes
            name = "_get_relevant_documents" if is_langchain else "_retrieve"
            monkeypatch.setattr(kind, name, switch(getattr(kind, name)))
        case "score":
            scenario = replace(SCENARIO, policy=SCANNED)
            judge = switch(lambda pairs: [0.0 for _ in pairs])
            given["judges"] = {"injection": judge}
        case "authorize":
            given["authorize"] = switch(lambda _, passages: [True for _ in passages])
        case "detect":
            given["detector"] = Detecting(switch)
        case "audit":
            given["audit"] = switch(lambda event: None)
        case "state":
            given["state"] = open_state()
            engine = given["state"].database._engine
            listener = switch(lambda *_: None)
            sa.event.listen(engine, "before_cursor_execute", listener)
    return make(scenario, **given), scenario


EFFECTS = {
    **dict.fromkeys(
        ("complete", "embed", "search", "score", "authorize", "detect", "audit"), FAULTS
    ),
    # What a driver raises is SQLAlchemy's; rows that are not right are told by tags.
    "state": {name: FAULTS[name] for name in ("raises an error of its library",)},
}


@pytest.mark.parametrize("make", [langchain_retriever, llamaindex_retriever])
@pytest.mark.parametrize("effect", EFFECTS)
def test_whatever_fails(effect, make, monkeypatch, caplog):
    """Each fault, sync and async; then the same wrapper is asked without one."""
    switch, wrong = Switch(), []
    wrapper, scenario = set_up(effect, make, switch, monkeypatch)

    def once(face):
        with acting_as(Principal("ann")):
            if face == "sync":
                return ask(wrapper, scenario)
            return asyncio.run(aask(wrapper, scenario))

    for name, fault in EFFECTS[effect].items():
        for face in ("sync", "async"):
            switch.fault, told = fault, ""
            try:
                told = str(once(face))
            except SdragError as error:
                told = "".join(traceback.format_exception(error))
                if isinstance(error, InternalError) or not str(error):
                    wrong.append((name, face, str(error)))
            except BaseException as error:  # noqa: BLE001 -- each is told below
                wrong.append((name, face, type(error).__name__))
            if SECRET in told:
                wrong.append((name, face, "leak"))
            switch.fault = None
            if "unload crates" not in (after := str(once(face))) or SECRET in after:
                wrong.append((name, face, "no recovery"))
    let_go()

    assert not wrong
    assert SECRET not in caplog.text
