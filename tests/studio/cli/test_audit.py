"""Audit logs: one line an event, without text; `sdrag audit` sums them up."""

from __future__ import annotations

import json
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from langchain_core.messages import ToolMessage
from typer.testing import CliRunner

from langchain_sdrag import SelectiveDisclosureMiddleware
from llamaindex_sdrag import HighlightAndSummarize
from sdrag import (
    AuditEvent,
    AuditLog,
    Decision,
    InternalError,
    Options,
    Passage,
    Principal,
    UsageError,
    acting_as,
    open_state,
)
from sdrag.state.rotation import rotate
from sdrag.studio.cli import main
from sdrag.studio.cli.app import app
from sdrag.studio.cli.audit import event_schema, read_log

from ...support.faces import BUILDERS, Scenario, ask, nodes
from ...support.scripted import canary

SECRET = canary("name")
SCENARIO = Scenario(
    "audited",
    passages=[
        Passage("p1", f"The witness, {SECRET} Karlsson, saw a van."),
        Passage("p2", "The harbour opens at nine."),
    ],
    policy={"constraints": [{"id": "names", "text": "Remove names of witnesses"}]},
)
POLICY = SCENARIO.policy | {"access": {"tenant_key": "tenant"}}
EVENT = AuditEvent(
    "retrieve",
    "0" * 16,
    (
        Decision("p1", "redacted", "disclosure", "", ("names",), 2),
        Decision("p2", "dropped", "access", "tenant"),
    ),
    0.25,
    model_calls=2,
    tokens_in=100,
    tokens_out=20,
)


@pytest.mark.parametrize("wrap", BUILDERS)
def test_a_line_is_of_the_schema_and_holds_no_text(wrap, tmp_path):
    """In both frameworks; only its owner can read the file."""
    path = tmp_path / "audit.jsonl"
    ask(wrap(SCENARIO, audit=AuditLog(path)), SCENARIO)

    (line,) = path.read_text().splitlines()
    validator = Draft202012Validator(event_schema(), format_checker=FormatChecker())
    validator.validate(json.loads(line))
    assert not validator.is_valid({"version": 1, "time": "now"})
    assert SECRET not in line
    assert "Karlsson" not in line
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def find(log, key, *who: str) -> list[tuple[str, str]]:
    given = ["audit", str(log), "--key", str(key), "--json", "--who", *who]
    done = CliRunner().invoke(app, given, catch_exceptions=False)
    shown = json.loads(done.output.splitlines()[-1])["shown"]
    return [(row["passage"], row["request"]) for row in shown]


@pytest.mark.parametrize("wrap", BUILDERS)
def test_who_holds_the_key_finds_what_a_person_was_shown(wrap, tmp_path):
    """And nobody else; a rotation makes others of the pseudonyms."""
    log, state = tmp_path / "audit.jsonl", tmp_path / "state.db"
    key, old = tmp_path / "state.db.key", tmp_path / "old.key"
    passages = [replace(p, metadata={"tenant": p.id}) for p in SCENARIO.passages]
    scenario = replace(SCENARIO, passages=passages, policy=POLICY, state=state)
    first, second = Principal(f"{SECRET}-7", "p1"), Principal(f"{SECRET}-7", "p2")

    def ask_as(principal: Principal, request: str) -> None:
        wrapper = wrap(scenario, audit=AuditLog(log))
        with acting_as(principal, request_id=request):
            ask(wrapper, scenario)

    for principal, request in ((first, "r1"), (second, "r2"), (first, "r3")):
        ask_as(principal, request)
    shutil.copy(key, old)
    rotate(open_state(state))
    ask_as(first, "r4")

    assert find(log, old, first.id, "--tenant", "p1") == [("p1", "r1"), ("p1", "r3")]
    assert find(log, old, second.id, "--tenant", "p2") == [("p2", "r2")]
    assert find(log, key, first.id, "--tenant", "p1") == [("p1", "r4")]
    assert find(log, key, "somebody else") == find(log, key, first.id) == []
    assert SECRET not in log.read_text()


RELEASED = Decision("p1", "released", "disclosure")
WITHHELD = Decision("p1", "withheld", "disclosure", "", ("names",))
DENIED = Decision("p1", "dropped", "access", "tenant")
STALE = Decision("p1", "dropped", "staleness", "old")


@pytest.mark.parametrize(
    ("decisions", "is_shown"),
    [
        ((RELEASED, WITHHELD), True),
        ((WITHHELD, RELEASED), True),
        ((DENIED, RELEASED), True),
        ((RELEASED, RELEASED, STALE), True),
        ((RELEASED, WITHHELD, STALE), False),
        ((WITHHELD, WITHHELD), False),
    ],
)
def test_what_was_shown_is_found_where_one_id_names_two(decisions, is_shown, tmp_path):
    """Whatever became of the other one."""
    log, state = tmp_path / "audit.jsonl", open_state(tmp_path / "state.db")
    person = state.keys.person(Principal("clerk-7"))
    AuditLog(log)(
        replace(EVENT, decisions=decisions, principal=person, request_id="r1")
    )

    shown = find(log, tmp_path / "state.db.key", "clerk-7")
    assert shown == ([("p1", "r1")] if is_shown else [])


def ask_highlights(scenario, **given):
    options = Options(**given)
    asked = HighlightAndSummarize(state=scenario.state, options=options)
    return asked.synthesize(scenario.query, nodes(scenario))


def ask_agent(scenario, **given):
    agent = SelectiveDisclosureMiddleware(
        scenario.policy, state=scenario.state, options=Options(**given)
    )
    said = ToolMessage("The harbour opens at nine.", tool_call_id="1")
    return agent.before_model({"messages": [said]}, None)


ASKING = {
    "highlights": ask_highlights,
    "agent": ask_agent,
    **{
        wrap.__name__: lambda scenario, wrap=wrap, **given: ask(
            wrap(scenario, **given), scenario
        )
        for wrap in BUILDERS
    },
}


@pytest.mark.parametrize("person", [Principal("clerk-7"), None])
@pytest.mark.parametrize("error", ["", "failed-internal"])
@pytest.mark.parametrize("name", ASKING)
def test_an_event_is_of_whom_a_resolver_finds(
    name, error, person, tmp_path, monkeypatch
):
    """Not of whoever acts around it, even where the request raises."""
    events, state = [], open_state(tmp_path / "state.db")
    given = {"audit": events.append, "principal_resolver": lambda _: person}
    if error:
        monkeypatch.setattr("sdrag.engine.drivers.run", Mock(side_effect=KeyError))
    raises = pytest.raises(InternalError) if error else nullcontext()
    with acting_as(Principal("service"), request_id="r1"), raises:
        ASKING[name](replace(SCENARIO, state=state), **given)

    (event,) = events
    told = (event.principal, event.request_id, event.error)
    assert told == (state.keys.person(person), "r1", error)


def test_many_threads_append_whole_lines(tmp_path):
    """A line is one write."""
    path = tmp_path / "audit.jsonl"
    logs = [AuditLog(path) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: logs[n % 4](EVENT), range(400)))

    assert [line[1] for line in read_log(path) if line] == [EVENT] * 400


def test_a_line_that_is_cut_off_is_an_error(tmp_path, monkeypatch):
    """A full disk can take the beginning of a line."""
    log = AuditLog(tmp_path / "audit.jsonl")
    monkeypatch.setattr("os.write", lambda _, data: len(data) - 1)

    with pytest.raises(UsageError, match="cannot be written"):
        log(EVENT)
    with pytest.raises(UsageError, match="cannot be written"):
        AuditLog(tmp_path / "gone" / "audit.jsonl")


@pytest.fixture
def log(tmp_path) -> Path:
    path = tmp_path / "audit.jsonl"
    written = AuditLog(path)
    for _ in range(3):
        written(EVENT)
    return path


def ran(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["sdrag", "audit", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_command_counts(log, monkeypatch, capsys):
    """Decisions by rule and reason, passages by constraint, and tokens."""
    with log.open("a") as file:
        file.write("no event\n{}\n")

    assert ran(monkeypatch, str(log), "--json") == 0
    out = capsys.readouterr().out
    result = json.loads(out.splitlines()[-1])
    assert result["events"] == 3
    assert result["unreadable"] == 2
    assert result["actions"] == {"redacted": 3, "dropped": 3}
    assert result["constraints"] == {"names": 3}
    assert (result["model_calls"], result["tokens_in"]) == (6, 300)
    assert "reasons: 'access' tenant 3" in out
    assert "unreadable: 2" in out
