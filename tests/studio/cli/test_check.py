"""`sdrag check`: what policies do, and whether their examples hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from langchain_core.language_models import FakeListChatModel
from langchain_core.tracers.context import collect_runs
from typer.testing import CliRunner

from sdrag.effects.prompts import Message, Prompt, sensitive
from sdrag.studio.cli import common
from sdrag.studio.cli.app import app

from ...support.scripted import answer_control, canary

SECRET = canary("constraint")
NAMES = {"id": "names", "text": "Remove the names of witnesses", "always": True}
TEXT = "The witness, Anna Karlsson, saw a grey van."
HOLDS = {"text": TEXT, "hides": ["Anna", "karlsson"], "keeps": ["grey van", "WITNESS"]}
SHOWN = {"text": TEXT, "hides": ["Anna", "grey van"]}
CUT = {"text": TEXT, "keeps": ["saw", "Anna"]}
UNKNOWN = {"id": "unknown", "text": f"Verberge alles über {SECRET}"}


def written(folder: Path, policy: Any, name: str = "policy.yaml") -> str:
    path = folder / name
    said = policy if isinstance(policy, str) else yaml.safe_dump(policy)
    path.write_text(said, encoding="utf-8")
    return str(path)


def printed(*arguments: str) -> tuple[int, str]:
    """Return the status and all that was printed."""
    ran = CliRunner().invoke(app, ["check", *arguments])
    assert ran.exception is None or isinstance(ran.exception, SystemExit)
    return ran.exit_code, ran.output


def checked(*arguments: str) -> tuple[int, str, dict[str, Any]]:
    """Return the status, all that was printed, and the object of the last line."""
    code, output = printed(*arguments, "--json")
    return code, output, json.loads(output.splitlines()[-1])


@pytest.mark.parametrize(
    ("policy", "status", "passed", "failed"),
    [
        ({"constraints": [NAMES]}, 0, 0, 0),
        ({"constraints": [{**NAMES, "examples": [HOLDS]}]}, 0, 1, 0),
        ({"constraints": [{**NAMES, "examples": [HOLDS, SHOWN]}]}, 1, 1, 1),
        ({"constraints": [{**NAMES, "examples": [SHOWN, CUT, HOLDS]}]}, 1, 1, 2),
        ({"constraints": [UNKNOWN]}, 1, 0, 0),
        (
            {
                "constraints": [
                    {**NAMES, "examples": [HOLDS]},
                    {**UNKNOWN, "examples": [HOLDS]},
                ]
            },
            1,
            1,
            1,
        ),
        ({"constraints": [UNKNOWN], "when_not_understood": "withhold"}, 0, 0, 0),
    ],
)
def test_the_status_says_whether_all_is_well(tmp_path, policy, status, passed, failed):
    """1 where an example fails, or a constraint would be refused."""
    code, _, result = checked(written(tmp_path, policy))

    assert code == status
    assert result["ok"] is (status == 0)
    assert (result["examples"]["passed"], result["examples"]["failed"]) == (
        passed,
        failed,
    )
    assert result["errors"] == []


GUARDED = {
    "access": {},
    "relevance": {"min_score": 0.99},
    "staleness": {},
    "injection": {},
    "contradictions": {"strategy": "decline"},
    "disclosure": {"top_k": 1},
}
WHERE = {"where": {"ward": ["north"], "year": 2}}


def test_examples_ask_what_the_words_withhold(tmp_path):
    """Not whether their text is fresh, ranks high, is anybody's, or of that place."""
    others = [{"text": "Hide dates"}, {"text": "Remove e-mail addresses"}]
    entry = {**NAMES, "always": False, "examples": [HOLDS, HOLDS]}
    for more, limits in [
        (GUARDED, {}),
        ({"when_not_understood": "withhold"}, {}),
        ({"disclosure": {"placeholders": "plain"}}, {}),
        ({}, {**WHERE, "where_missing": "hold"}),
        ({}, {**WHERE, "where_missing": "skip"}),
    ]:
        policy = {"constraints": [*others, {**entry, **limits}], **more}
        code, output, _ = checked(written(tmp_path, policy))
        assert code == 0, output


def failing_policy() -> dict[str, Any]:
    secret = {"text": f"Ann said {SECRET}.", "hides": SECRET}
    entries = [
        {
            **NAMES,
            "unless": {"roles": "clerk"},
            "examples": [HOLDS, SHOWN, CUT, secret],
        },
        {"id": "mail", "text": "Remove e-mail addresses", "keep": "no-reply"},
        UNKNOWN,
    ]
    sections = {"access": {}, "grounding": {}, "disclosure": {"top_k": 1}}
    more = {"metadata": {"verbatim": ["a", "b"]}, "keep": "Ward 7"}
    return {"constraints": entries, **sections, **more}


def test_the_object_quotes_nothing(tmp_path):
    """Ids, kinds, types and numbers: what a build prints, others read."""
    _, output, result = checked(written(tmp_path, failing_policy()))

    names, mail, unknown = result["constraints"]
    assert (names["people"], names["status"]) == (True, "understood")
    assert mail["kind"] == "types"
    assert "EMAIL_ADDRESS" in mail["types"]
    assert unknown["status"] == "needs_model"
    assert unknown["reason"]
    assert result["guards"] == ["access", "grounding"]
    failed = [
        (f["example"], f["kind"], f["number"]) for f in result["examples"]["failures"]
    ]
    assert failed == [(2, "hides", 2), (3, "keeps", 2)]
    assert len(output.splitlines()) == 1
    assert not [word for word in (SECRET, "Ann", "witnesses") if word in output]


def test_the_author_reads_what_each_sentence_does(tmp_path):
    """Quoted, in plain words, with what was tried, what fails, and what to do."""
    code, output = printed(written(tmp_path, failing_policy()))

    assert code == 1
    for line in (
        "1. “Remove the names of witnesses” (names)",
        "for example “Maria Lindqvist” in “Maria Lindqvist signed the form.”",
        "but not “The nurse signed the form.”",
        f"EXAMPLE 2 FAILS: {TEXT}",
        "got: The witness, [person], saw a grey van.",
        f"3. “{UNKNOWN['text']}” (unknown)",
        "REFUSED",
        "“Ward 7”; opens names",
        "examples: 2 passed, 2 failed",
    ):
        assert line in output, output
    assert "EXAMPLE 1" not in output


def test_every_policy_is_checked(tmp_path):
    """A wrong one does not keep the others from being read; then the status is 2."""
    wrong = written(tmp_path, "constraints: []\ndisclosur: {}\n", "wrong.yaml")
    failing = written(tmp_path, {"constraints": [UNKNOWN]}, "failing.yaml")
    gone = str(tmp_path / "gone.yaml")

    code, output, result = checked(wrong, failing, gone)

    assert code == 2
    assert result["ok"] is False
    assert [one["id"] for one in result["constraints"]] == ["unknown"]
    first, second = result["errors"]
    assert (first["file"], first["line"], first["key"]) == (wrong, 2, "disclosur")
    assert "Did you mean `disclosure`" in first["message"]
    assert (second["file"], second["line"], second["key"]) == (gone, None, "")
    assert "cannot be read" in output


def test_a_model_understands_the_rest(tmp_path, monkeypatch):
    """It is asked what the constraint means, so nothing is refused."""
    verdict = {"constraint": "unknown", "spans": ["Anna Karlsson"]}
    reply = json.dumps({"verdicts": [verdict]})

    def model(prompt: Prompt) -> str:
        return answer_control(prompt.messages[-1].content.text, reply)

    monkeypatch.setattr("sdrag.studio.cli.check.llm_of", lambda *_, **__: model)
    policy = {"constraints": [{**UNKNOWN, "examples": [HOLDS]}]}

    code, output, result = checked(
        written(tmp_path, policy), "--llm", "langchain:some:model"
    )

    assert code == 0, output
    assert result["constraints"][0]["status"] == "needs_model"
    assert result["examples"]["passed"] == 1
    _, text = printed(written(tmp_path, policy), "--llm", "langchain:some:model")
    assert "The model decides." in text


def test_no_tracer_sees_what_a_command_asks_of_a_model(monkeypatch):
    """Its prompts hold unredacted text, whichever command asks."""
    monkeypatch.setattr(
        common, "chat_model", lambda *_: FakeListChatModel(responses=["yes"] * 2)
    )
    prompt = Prompt("test", (Message("user", sensitive(SECRET)),))
    model = common.llm_of("langchain:some:model")

    with collect_runs() as seen:
        assert model.complete(prompt).text == "yes"
        FakeListChatModel(responses=["no"]).invoke("harmless")

    assert len(seen.traced_runs) == 1  # or it would be no proof
    assert SECRET not in str(seen.traced_runs)


def test_the_recognisers_are_listed(tmp_path):
    """By name, types and cues, and which a policy switches off; a sentence says so."""
    disclosure = {"recognisers_off": ["phone-numbers", "counts"]}
    policy = {"constraints": ["Remove telephone numbers"], "disclosure": disclosure}
    path = written(tmp_path, policy)

    code, output = printed("--recognisers", path)
    rows = {
        row["name"]: row for row in json.loads(printed("--recognisers", "--json")[1])
    }
    _, said = printed(path)

    assert code == 0
    assert "phone-numbers (off)\n  types: PHONE_NUMBER\n  cues: " in output
    assert all(row["on"] and row["types"] for row in rows.values())
    assert "iban" in rows["bank-accounts"]["cues"]
    assert "phone-numbers are off" in " ".join(said.split())
    assert checked(path)[2]["constraints"][0]["recognisers_off"] == ["phone-numbers"]


def test_briefly_there_is_a_line_for_each_sentence(tmp_path):
    """Whether it is understood, warned of or failing, and what it hides."""
    path = written(
        tmp_path,
        {"constraints": [{**NAMES, "examples": [SHOWN]}, UNKNOWN, "Hide dates"]},
    )

    code, output = printed(path, "--brief")

    assert code == 1
    _, names, unknown, dates, examples = output.splitlines()
    assert names.startswith("names: EXAMPLES FAIL: hides ")
    assert unknown.startswith("unknown: REFUSED")
    assert dates == "c3: ok: hides dates, wherever they are"
    assert examples == "examples: 0 passed, 1 failed"
    assert SECRET not in output
