"""Examples: pinned with a click, run at once, and written only after a warning."""

from __future__ import annotations

import stat

import pytest
import yaml
from typer.testing import CliRunner

from sdrag.cli.app import app as command
from sdrag.policy import Policy
from sdrag.workbench.bench import Workbench
from sdrag.workbench.examples_file import examples_path

POLICY = """\
constraints:
  - id: names
    text: Remove names of witnesses
    unless: {roles: [clerk]}
    examples:
      - {text: The witness Anna Karlsson left., hides: [Anna Karlsson]}
  - Hide exact dates of birth
metadata: {allow: [source]}
"""
TEXT = (
    "It rained. The witness Jonathan Meyers saw a van. The van was grey. "
    "Then Meyers left."
)
SENTENCE = "The witness Jonathan Meyers saw a van."


@pytest.fixture
async def opened(drop):
    return (await drop("a.txt", TEXT.encode())).json()["documents"][0]["number"]


@pytest.fixture
async def pin(ask, opened):
    async def pinned(quote="Jonathan Meyers", kind="hides", constraint="names", **more):
        made = await ask(
            "pin",
            policy=POLICY,
            document=opened,
            quote=quote,
            kind=kind,
            constraint=constraint,
            **more,
        )
        made.pop("seconds")
        return made

    return pinned


@pytest.mark.parametrize(
    ("quote", "start", "text"),
    [
        ("Jonathan Meyers", None, SENTENCE),
        (" a van ", None, SENTENCE),
        ("Meyers", 73, "Then Meyers left."),
        ("Meyers", 5, SENTENCE),
        ("saw a van. The van", None, f"{SENTENCE} The van was grey."),
    ],
)
async def test_an_example_is_the_sentence_around_the_words(pin, quote, start, text):
    """And no more of the document; of words that occur twice, those that were meant."""
    made = await pin(quote, start=start)

    assert made == {
        "constraint": "names",
        "text": text,
        "quote": quote.strip(),
        "kind": "hides",
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"quote": "Petra"}, "no such words"),
        ({"quote": "  "}, "no such words"),
        ({"constraint": "none"}, "no such constraint"),
        ({"document": 99}, "not loaded"),
        ({"kind": "maybe"}, "kind"),
    ],
)
async def test_what_cannot_be_pinned_is_refused(client, opened, change, said):
    body = {
        "policy": POLICY,
        "document": opened,
        "constraint": "names",
        "quote": "Meyers",
        "kind": "hides",
        **change,
    }
    answer = await client.post("/api/pin", json=body)

    assert answer.status_code in {404, 422}
    assert said in answer.json()["error"]


async def test_examples_are_run(ask, pin):
    """Each says whether it holds under the policy as it is now, and why not."""
    pins = [
        await pin(),
        await pin("a van", "hides"),
        await pin("a van", "keeps"),
        await pin("Meyers", "keeps"),
        await pin("a van", "keeps", "c2"),
        {**await pin(), "constraint": "gone"},
    ]

    outcomes = (await ask("run", policy=POLICY, pins=pins))["outcomes"]

    held = [one["holds"] for one in outcomes]
    assert held == [True, False, True, False, True, False]
    assert outcomes[1]["why"] == "It is shown."
    assert outcomes[3]["why"] == "It is withheld."
    assert "no such constraint" in outcomes[5]["why"]


async def test_saved_examples_are_a_policy_that_check_runs(ask, pin, folder):
    """Next to the policy, with those that the policy has itself."""
    saved = await ask("save", policy=POLICY, pins=[await pin()], warned=True)

    path = examples_path(folder / "policy.yaml")
    assert saved["file"] == str(path)
    assert saved["examples"] == 2
    assert Policy.read(path).hash == Policy.parse(POLICY).hash
    checked = CliRunner().invoke(command, ["check", str(path)])
    assert checked.exit_code == 0, checked.output
    assert "2 passed, 0 failed" in checked.output


async def test_only_its_owner_can_read_the_file(ask, pin, folder):
    """Also where the earlier one could be read by others; nothing else is left."""
    path = examples_path(folder / "policy.yaml")
    path.write_text(POLICY)
    path.chmod(0o644)
    before = set(folder.iterdir())

    await ask("save", policy=POLICY, pins=[await pin()], warned=True)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert set(folder.iterdir()) == before
    assert "hold text of real documents" in path.read_text()


@pytest.mark.parametrize("change", [{}, {"warned": False}, {"warned": "yes"}])
async def test_nothing_is_written_without_the_warning(client, pin, folder, change):
    body = {"policy": POLICY, "pins": [await pin()], **change}

    answer = await client.post("/api/save", json=body)

    assert answer.status_code == 422
    assert not examples_path(folder / "policy.yaml").exists()


async def test_earlier_examples_stay(ask, pin, folder):
    """Each is there once, however often it is saved."""
    first, second = await pin(), await pin("grey", "keeps")
    await ask("save", policy=POLICY, pins=[first], warned=True)
    await ask("save", policy=POLICY, pins=[second], warned=True)
    saved = await ask("save", policy=POLICY, pins=[first, second], warned=True)

    assert saved["examples"] == 3


@pytest.mark.parametrize("what", ["gone", "no policy", "link", "folder"])
async def test_what_would_be_lost_is_not_written_over(client, pin, folder, what):
    """Examples of other constraints, a file that is no policy, a link elsewhere."""
    path = examples_path(folder / "policy.yaml")
    if what == "gone":
        path.write_text(POLICY.replace("id: names", "id: other"))
    elif what == "no policy":
        path.write_text("mine")
    elif what == "link":
        path.symlink_to(folder / "secret.txt")
    else:
        path.mkdir()
    before = None if path.is_dir() else path.read_text()

    answer = await client.post(
        "/api/save", json={"policy": POLICY, "pins": [await pin()], "warned": True}
    )

    assert answer.status_code == 409
    assert "policy.examples.yaml" in answer.json()["error"]
    assert path.is_dir() or path.read_text() == before


async def test_without_a_policy_file_there_is_no_place_for_examples():
    from sdrag.workbench.refusals import RefusedError  # noqa: PLC0415 -- here alone
    from sdrag.workbench.requests import Saving  # noqa: PLC0415 -- here alone

    with pytest.raises(RefusedError, match="policy file"):
        Workbench().save(Saving(policy=POLICY, pins=(), warned=True))


async def test_a_pinned_example_has_to_hold_its_words(client, pin, folder):
    """A page that was changed by hand writes no file that check refuses."""
    wrong = {**await pin(), "quote": "not in it"}

    for path, more in (("run", {}), ("save", {"warned": True})):
        answer = await client.post(
            f"/api/{path}", json={"policy": POLICY, "pins": [wrong], **more}
        )
        assert answer.status_code == 422
    assert not examples_path(folder / "policy.yaml").exists()


async def test_the_policy_itself_is_never_written(ask, pin, folder):
    before = (folder / "policy.yaml").read_bytes()

    await ask("save", policy=POLICY, pins=[await pin()], warned=True)

    assert (folder / "policy.yaml").read_bytes() == before
    assert yaml.safe_load(before)
