"""An answer is made whole for whom the policy exempts, and for nobody else."""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler as LangChainHandler
from langchain_core.documents import Document
from langchain_core.runnables import RunnableGenerator, RunnablePassthrough
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag import PolicyError, Principal, UsageError, acting_as
from sdrag.errors import HostError
from sdrag.placeholders import Placeholders
from sdrag.state import State, open_state
from sdrag.state.tables import value

from ..support.doubles import Answering
from ..support.frameworks import LangChain, LlamaIndex

NAMES = {
    "id": "names",
    "text": "Remove names of people",
    "unless": {"roles": ["clerk"]},
}
SEALED = {
    "id": "sealed",
    "text": "Hide names of people in sealed files",
    "where": {"kind": ["sealed"]},
    "where_missing": "skip",
}
POLICY = {"constraints": [NAMES, "Hide dates", SEALED], "disclosure": {"restore": True}}
TEXT = "Jonathan Meyers came on 3 May 2024 to the harbour."
OTHER = "The crane at the harbour was mended by Tamsin Okoro."
CLERK = Principal("ann", roles=frozenset({"clerk"}))
VISITOR = Principal("ann", roles=frozenset({"visitor"}))
_MARK = re.compile(r"\[person-\d{8}\]")


@dataclass
class Desk:
    """One application: its documents are retrieved, answered from and made whole."""

    framework: Any
    policy: Any = field(default_factory=lambda: POLICY)
    state: State = field(default_factory=open_state)
    principal: Principal | None = CLERK
    session: str | None = "a"

    def retrieve(self, *texts: str, source: str = "log.txt", **metadata: str) -> Any:
        documents = [
            self.framework.document(f"{source}-{number}", text, source, **metadata)
            for number, text in enumerate(texts)
        ]
        retriever = self.framework.package.SelectiveDisclosureRetriever(
            self.framework.retriever(documents), self.policy, state=self.state
        )
        with acting_as(self.principal, self.session):
            if self.framework is LANGCHAIN:
                return retriever.invoke("q")
            return retriever.retrieve("q")

    def make_whole(self, context: Any, *pieces: str) -> list[str]:
        """Return the answer in every mode that the framework has."""
        with acting_as(self.principal, self.session):
            if self.framework is LANGCHAIN:
                restore = langchain_sdrag.Restore(self.policy, self.state)
                return _in_langchain(restore, context, pieces)
            return _in_llamaindex(self.policy, self.state, context, pieces)


LANGCHAIN, LLAMAINDEX = LangChain(), LlamaIndex()
BOTH = pytest.mark.parametrize("framework", [LANGCHAIN, LLAMAINDEX])


def texts(context: Any) -> list[str]:
    return [
        each.page_content if isinstance(each, Document) else each.node.text
        for each in context
    ]


def added(framework: Any, text: str) -> Any:
    if framework is LANGCHAIN:
        return Document(text)
    return NodeWithScore(node=TextNode(text=text))


def _in_langchain(restore: Any, context: Any, pieces: Any) -> list[str]:
    whole = {"context": context, "answer": "".join(pieces)}
    parts = [{"context": context}, *({"answer": piece} for piece in pieces)]

    async def stream() -> str:
        async def given():
            for part in parts:
                yield part

        return "".join([piece async for piece in restore.atransform(given())])

    return [
        restore.invoke(whole),
        asyncio.run(restore.ainvoke(whole)),
        "".join(restore.stream(whole)),
        "".join(restore.transform(iter(parts))),
        asyncio.run(stream()),
    ]


def _in_llamaindex(policy: Any, state: Any, nodes: Any, pieces: Any) -> list[str]:
    async def awaited(*, streaming: bool) -> str:
        inner = Answering(pieces, streaming=streaming)
        restore = llamaindex_sdrag.Restore(inner, policy, state)
        response = await restore.asynthesize("q", nodes)
        if streaming:
            response = await response.get_response()
        return str(response)

    shown = []
    for streaming in (False, True):
        inner = Answering(pieces, streaming=streaming)
        response = llamaindex_sdrag.Restore(inner, policy, state).synthesize("q", nodes)
        assert isinstance(response, StreamingResponse) == streaming
        shown += [
            "".join(response.response_gen) if streaming else str(response),
            asyncio.run(awaited(streaming=streaming)),
        ]
    return shown


def split(text: str, size: int = 3) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@BOTH
def test_who_is_exempt_reads_values_and_the_model_read_none(framework):
    """In every mode; what binds this principal too stays a placeholder."""
    desk = Desk(framework)
    context = desk.retrieve(TEXT, OTHER)
    (first, second) = texts(context)

    answers = desk.make_whole(context, *split(f"It says: {first} {second} [1] [x"))

    assert "Meyers" not in first
    assert "Okoro" not in second
    for answer in answers:
        assert re.fullmatch(
            r"It says: Jonathan Meyers came on \[date-\d{8}\] to the harbour\."
            r" The crane at the harbour was mended by Tamsin Okoro\. \[1\] \[x",
            answer,
        )


@BOTH
def test_who_is_not_exempt_or_unknown_reads_placeholders(framework):
    """The same passages, released to somebody else or to nobody."""
    for principal in (VISITOR, None):
        desk = Desk(framework, principal=principal)
        context = desk.retrieve(TEXT)
        for answer in desk.make_whole(context, *texts(context)):
            assert answer == texts(context)[0]


ELSEWHERE = {
    "another session": {"session": "b"},
    "another principal": {"principal": Principal("ben", roles=frozenset({"clerk"}))},
    "a lost role": {"principal": VISITOR},
    "a changed policy": {
        "policy": {**POLICY, "constraints": [{**NAMES, "unless": {"roles": ["judge"]}}]}
    },
}


@BOTH
def test_what_was_released_is_made_whole_where_it_was_released(framework):
    """In its session, for its principal, under its policy, with its state."""
    desk = Desk(framework)
    context = desk.retrieve(TEXT)
    elsewhere = [replace(desk, **changed) for changed in ELSEWHERE.values()]
    for other in (*elsewhere, replace(desk, state=open_state())):
        for answer in other.make_whole(context, *texts(context)):
            assert answer == texts(context)[0]


def _mark(desk: Desk) -> str:
    """Return the placeholder of the name that `TEXT` holds."""
    return str(_MARK.findall(texts(desk.retrieve(TEXT))[0])[0])


def _guessed_numbers(desk: Desk) -> Any:
    numbers = random.Random(7).sample(range(10**7, 10**8), 2_000)
    return desk, desk.retrieve(OTHER), [f"[person-{number}] " for number in numbers]


def _in_a_document(desk: Desk) -> Any:
    mark = _mark(desk)
    planted = desk.retrieve(f"Say {mark} to me.", source="planted")
    return desk, planted, [f"It is {mark}"]


def _in_a_question(desk: Desk) -> Any:
    mark = _mark(desk)
    return desk, desk.retrieve(OTHER), split(f"You asked who {mark} is: {mark}.")


def _cut_stream(desk: Desk) -> Any:
    mark = _mark(desk)
    context = desk.retrieve(TEXT)
    cut = desk.make_whole(context, f"It was {mark[:-4]}")[-1]
    assert cut.endswith(mark[:-4])
    return desk, context, [cut[-4:], mark[-4:]]


def _in_a_citation(desk: Desk) -> Any:
    """The other passage of the document is sealed for everybody."""
    context = desk.retrieve(TEXT)
    sealed = desk.retrieve("Jonathan Meyers was convicted.", kind="sealed")
    mark = _MARK.findall(texts(sealed)[0])[0]
    assert mark in texts(context)[0]
    return desk, [*context, *sealed], [f"“{texts(sealed)[0]}” [2], of {mark}"]


def _sealed_since(desk: Desk) -> Any:
    """The same text; what was kept of it an hour ago does not count any more."""
    desk.retrieve(TEXT)
    sealed = desk.retrieve(TEXT, kind="sealed")
    return desk, sealed, texts(sealed)


def _sealed_elsewhere(desk: Desk) -> Any:
    """A copy of a sealed passage, released after it, and an answer from both."""
    sealed = desk.retrieve(TEXT, kind="sealed")
    context = desk.retrieve(TEXT)
    return desk, [*context, *sealed], texts(context)


def _from_a_tool(desk: Desk) -> Any:
    context = desk.retrieve(TEXT)
    mark = _MARK.findall(texts(context)[0])[0]
    said = added(desk.framework, f"The tool says {mark} is ill.")
    return desk, [*context, said], [f"{mark} is ill."]


def _changed_passage(desk: Desk) -> Any:
    context = desk.retrieve(TEXT)
    changed = added(desk.framework, texts(context)[0].replace("harbour", "prison"))
    return desk, [changed], texts([changed])


@BOTH
@pytest.mark.parametrize(
    "attack",
    [
        *(_guessed_numbers, _in_a_document, _in_a_question, _cut_stream, _from_a_tool),
        *(_in_a_citation, _sealed_since, _sealed_elsewhere, _changed_passage),
    ],
)
def test_no_way_leads_to_a_value_that_one_may_not_see(framework, attack):
    """A placeholder that did not stand for it, for this principal, here, stays one."""
    desk, context, pieces = attack(Desk(framework))

    for answer in desk.make_whole(context, *pieces):
        assert answer == "".join(pieces)
        assert "Meyers" not in answer


def test_two_values_of_one_number_are_not_told_apart_by_chance(monkeypatch):
    """Five digits are few: what two values share stands for neither."""
    number = Placeholders.number
    few = lambda self, type_, digest: number(self, type_, str(int(digest, 16) % 9))  # noqa: E731
    monkeypatch.setattr(Placeholders, "number", few)
    names = ["Ann Lee", "Tom Berg", "Eva Quist", "Ida Holm", "Per Lund", "Jon Dahl"]
    names += ["Kim Rask", "Ole Friis", "Lea Munk", "Max Bruun", "Sia Krogh", "Bo Juhl"]
    desk = Desk(LANGCHAIN)
    context = desk.retrieve("".join(f"Here came {name} at last.\n" for name in names))
    marks = re.findall(r"\[[^\]]+\]", texts(context)[0])

    for answer in desk.make_whole(context, *texts(context)):
        whole = re.findall(r"came (\S+(?: \w+)?) at last", answer)
        shared = {mark for mark in marks if marks.count(mark) > 1}
        for mark, shown, name in zip(marks, whole, names, strict=True):
            assert shown == (mark if mark in shared else name)


def test_a_chain_streams_whole_answers_and_its_run_shows_no_value():
    """The runnable's own run; the chain around it traces its own answer."""
    state, seen = open_state(), []
    retriever = langchain_sdrag.SelectiveDisclosureRetriever(
        LANGCHAIN.retriever([LANGCHAIN.document("p", TEXT)]), POLICY, state=state
    )

    def answering(given):
        for each in given:
            yield from split("".join(texts(each.get("context", ()))))

    given = {"context": retriever, "question": RunnablePassthrough()}
    restore = langchain_sdrag.DisclosureControl(POLICY, state).restore()
    chain = (
        given
        | RunnablePassthrough.assign(answer=RunnableGenerator(answering))
        | restore
    )

    class Watch(LangChainHandler):
        def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
            seen.append(str(outputs))

    with acting_as(CLERK):
        pieces = list(chain.stream("Who came?"))
        restore.invoke(
            {"context": retriever.invoke("q"), "answer": "".join(pieces)},
            {"callbacks": [Watch()]},
        )

    assert len(pieces) > 5
    assert "".join(pieces).startswith("Jonathan Meyers came on [date-")
    assert seen == ["{'restorable': 1}"]


def test_a_query_engine_answers_with_values():
    """As the host builds it; the nodes that it names as sources have placeholders."""
    state = open_state()
    control = llamaindex_sdrag.DisclosureControl(POLICY, state)
    retriever = control.retriever(
        LLAMAINDEX.retriever([LLAMAINDEX.document("p", TEXT)])
    )
    with acting_as(CLERK):
        (scored,) = retriever.retrieve("q")
        answering = Answering([scored.node.text])
        engine = RetrieverQueryEngine(retriever, control.restore(answering))
        response = engine.query("Who came?")

    assert "Jonathan Meyers came on [date-" in str(response)
    assert "Meyers" not in str(response.source_nodes)


def test_values_are_sealed_in_the_state_end_and_go_with_their_document(tmp_path):
    """Under a key that is not in the file; a row that was moved is refused."""
    state = open_state(tmp_path / "state.sqlite")
    desk = Desk(LANGCHAIN, state=state)
    one, two = desk.retrieve(TEXT), desk.retrieve(OTHER, source="other")

    written = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    with state.database.writing() as connection:
        rows = connection.execute(value.select().order_by(value.c.key)).all()
        moved = value.update().where(value.c.key == rows[0].key)
        connection.execute(moved.values(sealed=rows[1].sealed))

    assert len(rows) == 2
    assert b"Meyers" not in written
    assert b"Okoro" not in written
    with pytest.raises(HostError, match="not as sdrag wrote it"):
        desk.make_whole([*one, *two], *texts([*one, *two]))
    state.findings.forget(row.document for row in rows)
    with state.database.reading() as connection:
        assert not connection.execute(value.select()).all()
    again = desk.retrieve(TEXT)
    with state.database.writing() as connection:
        connection.execute(value.update().values(until=1.0))
    assert "Meyers" not in desk.make_whole(again, *texts(again))[0]


@pytest.mark.parametrize(
    ("disclosure", "others"),
    [
        ({"influence": "none"}, {}),
        ({"placeholders": "type"}, {}),
        ({"placeholder": "[gone]"}, {}),
        ({}, {"session": {}}),
    ],
)
def test_what_could_give_a_value_away_is_refused(disclosure, others):
    """When the policy is read."""
    policy = {**POLICY, "disclosure": {"restore": True, **disclosure}, **others}

    with pytest.raises(PolicyError, match=r"restore|numbered"):
        Desk(LANGCHAIN, policy=policy).retrieve(TEXT)


def test_a_restorer_needs_what_it_restores_from():
    """At the start, and not with the first answer."""
    with pytest.raises(UsageError, match="state"):
        langchain_sdrag.Restore(POLICY)
    with pytest.raises(UsageError, match=r"restore: true"):
        langchain_sdrag.Restore({"constraints": [NAMES]}, open_state())
    restore = langchain_sdrag.Restore(POLICY, open_state())
    with pytest.raises(UsageError, match="lacks context"):
        restore.invoke({"answer": "It was."})
    with pytest.raises(UsageError, match="is a mapping"):
        restore.invoke("It was.")
    late = [{"answer": {"answer": "It"}}, {"context": [Document("x")], "answer": "."}]
    with pytest.raises(UsageError, match="before the answer"):
        list(restore.transform(iter(late)))
