"""
What is fuzzed: for each target, a function of bytes that raises if a promise broke.

An error that the function documents is no fault. Each target says in its docstring what
must hold.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import numpy as np
import sqlalchemy as sa
import yaml
from atheris import FuzzedDataProvider

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.model.replies import read_answers, read_verdicts
from sdrag.effects.steps import run
from sdrag.errors import SdragError
from sdrag.guardrails.statements.claims import claims
from sdrag.guardrails.statements.quantities import read_quantities
from sdrag.guardrails.statements.words import read_tokens
from sdrag.highlight.verification import verify_highlights
from sdrag.linkage import Fitted, fit
from sdrag.linkage.plan_file import _cipher
from sdrag.memo import Memo
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.state import State, open_state
from sdrag.state.findings import Findings
from sdrag.state.ledger import Shown
from sdrag.state.tables import tables
from sdrag.studio.authoring.policy_text import add, disable, find_disabled, read_policy
from sdrag.studio.documents.reading import READERS, UnreadableError, read_bytes
from sdrag.studio.workbench.app import Workbench, build_app
from sdrag.studio.workbench.bodies import RequestBody
from sdrag.text.cells import apply_edits, clip, place, plain_view, read_cells
from sdrag.text.decoding import decode
from sdrag.text.folding import fold
from sdrag.text.spans import SpanUnion, merge, splice, subtract
from sdrag.vocabulary import Constraint, Passage, Span

from ..support.scripted import Scripted

_LONGEST = 2_000
"""Characters of an input: what is longer teaches a fuzzer nothing more."""


def _draw_text(data: FuzzedDataProvider) -> str:
    return str(data.ConsumeUnicodeNoSurrogates(_LONGEST))


def _draw_spans(data: FuzzedDataProvider, length: int) -> Iterator[Span]:
    for _ in range(data.ConsumeIntInRange(0, 6)):
        start = data.ConsumeIntInRange(0, max(0, length - 1))
        if start < length:
            yield Span(start, data.ConsumeIntInRange(start + 1, length))


def fuzz_policy(given: bytes) -> None:
    """A policy is read or refused; an edited one reads as what it was, and more."""
    text = _draw_text(FuzzedDataProvider(given))
    with suppress(SdragError):
        policy = read_policy(text)
        longer = read_policy(add(text, "Hide names"))
        assert len(longer.constraints) == len(policy.constraints) + 1
        if policy.constraints:
            off = disable(text, 0)
            assert len(find_disabled(off)) >= 1


def fuzz_constraint(given: bytes) -> None:
    """Any sentence is understood, or it is said why not."""
    text = _draw_text(FuzzedDataProvider(given))
    parsed = parse(Constraint("-", text.strip() or "-"))
    assert parsed.status == "understood" or parsed.reason


def fuzz_documents(given: bytes) -> None:
    """Any bytes are documents of a format, or unreadable."""
    data = FuzzedDataProvider(given)
    suffix = data.PickValueInList(sorted(READERS))
    rows = data.ConsumeBool()
    with suppress(UnreadableError):
        read = read_bytes(f"a{suffix}", data.ConsumeBytes(_LONGEST), rows=rows)
        names = [document.id for document in read.documents]
        assert len({*names}) == len(names)


def fuzz_cells(given: bytes) -> None:
    """Cells are apart and in order; what is found in their lines is inside of them."""
    text = _draw_text(FuzzedDataProvider(given))
    layout = read_cells(text)
    done = 0
    for cell in layout.cells:
        assert done <= cell.start < cell.end <= len(text)
        done = cell.end
    if view := plain_view(layout):
        for there, origin in view.origins(Span(0, max(1, len(view.text)))):
            assert there.end <= len(view.text)
            assert origin.end <= len(text)


def fuzz_structures(given: bytes) -> None:
    """JSON, YAML and CSV in which any value went are read, and have their shape."""
    data = FuzzedDataProvider(given)
    value = {"n": 1, "of": _draw_value(data, 0)}
    kind = data.ConsumeIntInRange(0, 3)
    if kind == 0:
        _check_shape(
            json.dumps(value, indent=data.PickValueInList([None, 2])), json.loads
        )
    elif kind == 1:
        _check_shape(json.dumps(value, ensure_ascii=False), json.loads)
    elif kind == 2:
        style = data.PickValueInList([None, False, True])
        written = yaml.safe_dump(value, default_flow_style=style)
        _check_shape(written, yaml.safe_load)
    else:
        # A cell of several lines with half of a bracket in it is read wrong: a gap.
        rows = [
            [str(_draw_leaf(data)).replace("\n", " ") for _ in range(3)]
            for _ in range(4)
        ]
        out, separator = io.StringIO(), data.PickValueInList([",", ";"])
        csv.writer(out, delimiter=separator).writerows([["n", "mail", "note"], *rows])
        _check_shape(
            out.getvalue(),
            lambda text: [*csv.reader(io.StringIO(text), delimiter=separator)],
        )


def _draw_value(data: FuzzedDataProvider, depth: int) -> object:
    kind = data.ConsumeIntInRange(0, 5 if depth < 3 else 3)
    if kind == 4:
        return [
            _draw_value(data, depth + 1) for _ in range(data.ConsumeIntInRange(0, 3))
        ]
    if kind == 5:
        keys = [f"key{number}" for number in range(data.ConsumeIntInRange(0, 3))]
        return {key: _draw_value(data, depth + 1) for key in keys}
    return _draw_leaf(data)


def _draw_leaf(data: FuzzedDataProvider) -> object:
    kind = data.ConsumeIntInRange(0, 3)
    if kind == 0:
        return data.PickValueInList([None, True, 0, -1.5, 412])
    if kind == 1:
        return "rosa " * data.ConsumeIntInRange(1, 40)
    said = str(data.ConsumeUnicodeNoSurrogates(30))
    return "".join(c for c in said if c.isprintable() or c in "\n\t")


def _check_shape(text: str, read: Callable[[str], object]) -> None:
    layout = read_cells(text)
    if not layout.is_hard:
        return
    values = [cell.span for cell in layout.cells if cell.role in {"field", "value"}]
    spans = [part for span in values for part in clip(layout, span, lambda _: False)]
    left = apply_edits(text, place(layout, dict.fromkeys(spans, "[name]")))
    assert _shape_of(read(left)) == _shape_of(read(text))


def _shape_of(value: object) -> object:
    if isinstance(value, dict):
        return {key: _shape_of(inner) for key, inner in value.items()}
    return [*map(_shape_of, value)] if isinstance(value, list) else None


def fuzz_spans(given: bytes) -> None:
    """Unions, differences and replacements of spans are those of their characters."""
    data = FuzzedDataProvider(given)
    length = data.ConsumeIntInRange(1, 60)
    spans, others = [*_draw_spans(data, length)], [*_draw_spans(data, length)]
    text = "".join(chr(33 + at) for at in range(length))

    def covered(some: list[Span]) -> set[int]:
        return {at for span in some for at in range(span.start, span.end)}

    assert covered([*merge(spans)]) == covered(spans)
    union = SpanUnion(others)
    for span in spans:
        left = [*subtract(span, merge(others))]
        assert covered(left) == covered([span]) - covered(others)
        assert union.contains(span) == (covered([span]) <= covered(others))
        assert union.overlaps(span) == bool(covered([span]) & covered(others))
    released = splice(text, merge(spans), lambda _: " ")
    assert {*released} - {" "} == {text[at] for at in {*range(length)} - covered(spans)}


def fuzz_folding(given: bytes) -> None:
    """What is found in a folded or decoded text is somewhere in the text."""
    data = FuzzedDataProvider(given)
    text = _draw_text(data)
    for there in (fold(text), decode(text)):
        for span in _draw_spans(data, len(there.text)):
            origin = there.span(span.start, span.end)
            assert 0 <= origin.start < origin.end <= len(text)


def fuzz_quotations(given: bytes) -> None:
    """What a highlighter says is there is verbatim of a passage, or refused."""
    data = FuzzedDataProvider(given)
    passages = [Passage(name, _draw_text(data)) for name in "ab"]
    count = data.ConsumeIntInRange(0, 4)
    extracts = [str(data.ConsumeUnicodeNoSurrogates(80)) for _ in range(count)]
    texts = {passage.id: passage.text for passage in passages}
    words = data.ConsumeIntInRange(1, 3)
    verified = verify_highlights(extracts, passages, min_words=words)
    for highlight in verified.highlights:
        span = highlight.span
        assert texts[highlight.passage_id][span.start : span.end] == highlight.text


def fuzz_claims(given: bytes) -> None:
    """Claims and quantities of an answer are inside of it."""
    text = _draw_text(FuzzedDataProvider(given))
    for claim in claims(text):
        assert claim.text.strip()
    read_quantities(read_tokens([text]))


def fuzz_replies(given: bytes) -> None:
    """A reply names only what was asked."""
    text = _draw_text(FuzzedDataProvider(given))
    assert {*read_verdicts(text, ["a", "b"])} <= {"a", "b"}
    freed = read_answers(text, {"1": ["a"], "2": ["a", "b"]})
    assert freed.get("1", frozenset()) <= {"a"}
    assert freed.get("2", frozenset()) <= {"a", "b"}


_NAME, _KEY = "Karlsson", b"sixteen bytes or more"
_CHUNKS = (
    Passage("a", f"The witness Jonathan {_NAME} came.", document_id="d"),
    Passage("b", f"The gate that {_NAME.lower()} had left open.", document_id="d"),
)


@cache
def _bind_chunks() -> tuple[State, Engine, dict[str, list[dict[str, object]]]]:
    """Return a state of which every table has rows, an engine, and the rows."""
    state = open_state()
    engine = Engine(["Hide names of people"], state=state)
    run(bind(_CHUNKS, engine), Scripted())
    shown = [Shown(b"t" * 16, b"d" * 8, {"fact": 0.5})]
    state.ledger.update(b"s" * 16, lambda _: shown, 0.0, 9.0)
    state.values.add({"00" * 16: (b"d" * 8, {"[person-1]": _NAME})}, 0.0)
    with state.database.reading() as connection:
        rows = {
            name: [dict(row._mapping) for row in connection.execute(sa.select(table))]
            for name, table in tables.tables.items()
        }
    return state, engine, rows


def fuzz_rows(given: bytes) -> None:
    """Whatever is in a row of a state: it is refused, or nothing hidden is released."""
    state, engine, rows = _bind_chunks()
    data = FuzzedDataProvider(given)
    table = tables.tables[data.PickValueInList(sorted({*rows} - {"meta"}))]
    column = data.PickValueInList([each.name for each in table.columns])
    value = _draw_held(data)
    statement = sa.text(f"UPDATE {table.name} SET {column} = :value")  # noqa: S608
    with suppress(SdragError), state.database.writing() as connection:
        connection.execute(statement, {"value": value})
    # As another process sees it, which remembers nothing.
    findings, cuts = Findings(state.database, state.keys), Memo(100)
    engine = engine.replace(state=replace(state, findings=findings, cuts=cuts))
    try:
        with suppress(SdragError):
            released = run(disclose(_CHUNKS, Request("Who?"), engine), Scripted())
            for passage in released.passages:
                assert _NAME.lower() not in passage.text.lower()
        with suppress(SdragError):
            state.ledger.update(b"s" * 16, lambda _: (), 1.0, 9.0)
        with suppress(SdragError):
            read = state.values.read(["00" * 16], 1.0)
            assert read in ({}, {"00" * 16: {"[person-1]": _NAME}})
    finally:
        with state.database.writing() as connection:
            connection.execute(table.delete())
            connection.execute(table.insert(), rows[table.name])


def _draw_held(data: FuzzedDataProvider) -> object:
    """Draw what SQLite can hold."""
    kind = data.ConsumeIntInRange(0, 4)
    if kind == 0:
        held = [None, 0, -1, 2**63 - 1, "[]", "[[],[]]", b""]
        return data.PickValueInList(held)
    if kind == 1:
        return data.ConsumeFloat()
    if kind == 2:
        return json.dumps(_draw_value(data, 0))
    return data.ConsumeBytes(60) if kind == 3 else _draw_text(data)


@cache
def _write_plan() -> bytes:
    """Return a plan as it is in a file."""
    entities = [[[_NAME, "", "NAME", 1.0]]]
    with TemporaryDirectory() as folder:
        path = Path(folder, "plan")
        fit([_CHUNKS[0]], {}, entities=entities, key=_KEY).save(path)
        return path.read_bytes()


def fuzz_plan(given: bytes) -> None:
    """A file is a plan or refused, under its key too, and no error holds a word."""
    data = FuzzedDataProvider(given)
    whole = _write_plan()
    salt, is_sealed = whole[:16], data.ConsumeBool()
    if is_sealed:  # by whoever has the key; what is changed are words of its JSON
        file = np.load(io.BytesIO(_cipher(_KEY, salt).decrypt(whole[16:])))
        parts = dict(file)
        whole = parts["held"].tobytes()
    at = data.ConsumeIntInRange(0, len(whole))
    to = data.ConsumeIntInRange(at, min(at + 40, len(whole)))
    changed = whole[:at] + data.ConsumeBytes(200) + whole[to:]
    if is_sealed:
        file = io.BytesIO()
        np.savez(file, **{**parts, "held": np.frombuffer(changed, np.uint8)})
        changed = salt + _cipher(_KEY, salt).encrypt(file.getvalue())
    with TemporaryDirectory() as folder:
        path = Path(folder, "plan")
        path.write_bytes(changed)
        said = ""
        try:
            Fitted.open(path, _KEY)
        except SdragError as error:
            said = repr(error)
        assert _NAME not in said


_FIELDS = sorted(RequestBody.model_fields)
_PATHS = (
    *("forget", "open", "policy", "explain", "report", "edit", "ask", "link"),
    "documents",
)


@cache
def _open_bench() -> Workbench:
    bench = Workbench()
    bench.drop("a.txt", _CHUNKS[0].text.encode())
    return bench


def fuzz_bodies(given: bytes) -> None:
    """The workbench answers any body, and refuses it in no word of it."""
    data = FuzzedDataProvider(given)
    where, policy = data.PickValueInList([*_PATHS]), "- Hide names\n"
    body: dict[str, object] = {"policy": policy}
    for _ in range(data.ConsumeIntInRange(0, 4)):
        drawn = _draw_value(data, 1)
        body[data.PickValueInList(_FIELDS)] = f"{_NAME}{drawn}" if drawn else drawn
    content = json.dumps(body).encode()
    if data.ConsumeBool():
        content = data.ConsumeBytes(_LONGEST)
    headers = {"authorization": "Bearer t", "content-type": "application/json"}
    headers["x-file-name"] = data.PickValueInList(["b.txt", "b.csv", "%FF", "b.json"])
    status, answer = asyncio.run(_post(f"/api/{where}", content, headers))
    assert status < 500
    assert status == 200 or _NAME not in answer


async def _post(path: str, content: bytes, headers: dict[str, str]) -> tuple[int, str]:
    app = build_app(_open_bench(), token="t", port=80)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport) as client:
        asked = f"http://127.0.0.1{path}"
        host = {"host": "127.0.0.1:80"}
        answer = await client.post(asked, content=content, headers=headers | host)
    return answer.status_code, answer.text


TARGETS: dict[str, Callable[[bytes], None]] = {
    name.removeprefix("fuzz_"): function
    for name, function in sorted(globals().items())
    if name.startswith("fuzz_")
}
