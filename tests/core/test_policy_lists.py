"""Lists that a policy has in files: read with it, part of it, and in no error."""

from __future__ import annotations

import re
import traceback

import pytest
from typer.testing import CliRunner

from sdrag import PolicyError, explain
from sdrag.policy import Policy
from sdrag.studio.cli.app import app

STAFF = "# who is at the desk\nAnna Karlsson\n\nBo Lindqvist\n"
CODES = "EMP-\\d{5}\nCASE-\\d+\n"


@pytest.fixture
def listing(tmp_path):
    """A policy of which two lists are files beside it."""
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "staff.txt").write_text(STAFF, encoding="utf-8")
    (tmp_path / "codes.txt").write_text(CODES, encoding="utf-8")
    path = tmp_path / "policy.yaml"
    path.write_text(
        "constraints:\n"
        "- {text: Remove people's names, keep: {file: lists/staff.txt}}\n"
        "- Hide case codes\n"
        "patterns: [{name: case code, file: codes.txt}]\n"
        "keep: [{type: TIME}, {file: lists/staff.txt}]\n",
        encoding="utf-8",
    )
    return path


def test_lists_in_files_are_part_of_the_policy(listing):
    """They keep and hide as if they were written in it, and are in its hash."""
    policy = Policy.read(listing)
    staff = ["Anna Karlsson", "Bo Lindqvist"]
    said = {
        "constraints": [
            {"text": "Remove people's names", "keep": {"words": staff}},
            "Hide case codes",
        ],
        "patterns": [{"name": "case code", "pattern": ["EMP-\\d{5}", "CASE-\\d+"]}],
        "keep": [{"type": "TIME"}, {"words": staff}],
    }
    text = "Bo Lindqvist gave EMP-12345 and CASE-7 to Maria Lee."

    assert policy == Policy.read(said)
    assert policy.hash == Policy.read(said).hash
    released = "Bo Lindqvist gave [case-code] and [case-code] to [person]."
    assert explain(text, policy).released == released
    codes = "['EMP-\\d{5}', 'CASE-\\d+']"
    (listing.parent / "codes.yaml").write_text(codes, encoding="utf-8")
    listing.write_text(listing.read_text().replace("codes.txt", "codes.yaml"))
    assert Policy.read(listing) == policy
    (listing.parent / "lists" / "staff.txt").write_text("Maria Lee", encoding="utf-8")
    assert Policy.read(listing).hash != policy.hash
    assert "Bo Lindqvist" not in (explain(text, Policy.read(listing)).released or "")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("none.txt", None, "does not exist"),
        ("../outside.txt", b"secret", "is not in the policy's folder"),
        ("/etc/hostname", None, "is not in the policy's folder"),
        (".", None, "cannot be read"),
        ("large.txt", b"secret\n" * 200_000, "is larger than 1,000,000 bytes"),
        ("latin.txt", b"secret \xe9", "is not UTF-8 text"),
        ("binary.txt", b"secret\0", "is not UTF-8 text"),
        ("empty.txt", b"# secret\n\n", "lists nothing"),
        ("map.yaml", b"secret: 1", "is no YAML list of texts"),
        ("bad.yaml", b"[secret", "is no YAML list of texts"),
        ("long.txt", b"secret" * 50, "should have at most 200 characters"),
        ("odd.txt", b"secret\n---\n", "entry 2: words need a letter or a digit"),
    ],
)
def test_a_file_that_is_no_list_is_refused_and_not_quoted(tmp_path, name, data, said):
    """The error has the line of the policy, and no word of the file."""
    folder = tmp_path / "policies"
    folder.mkdir()
    if data is not None:
        (folder / name).write_bytes(data)
    path = folder / "policy.yaml"
    path.write_text(
        f"constraints: [Remove names]\nkeep:\n- Ward 7\n- file: {name}\n", "utf-8"
    )

    with pytest.raises(PolicyError, match=re.escape(said)) as raised:
        Policy.read(path)

    assert raised.value.line == 4
    assert (raised.value.key or "").startswith("keep.1")
    assert "secret" not in "".join(traceback.format_exception(raised.value))


def test_a_list_is_read_for_a_policy_that_is_a_file_alone(listing, monkeypatch):
    """A mapping or a text that came from elsewhere opens no file."""
    monkeypatch.chdir(listing.parent)
    mapping = {"constraints": ["Remove names"], "keep": {"file": "codes.txt"}}

    for read in (
        lambda: Policy.read(mapping),
        lambda: Policy.parse(listing.read_text(encoding="utf-8")),
    ):
        with pytest.raises(PolicyError, match="where the policy is a file itself"):
            read()


def test_check_says_how_many_entries_a_list_has(listing):
    """Three of them are quoted."""
    names = "\n".join(f"Clerk {number}" for number in range(500))
    (listing.parent / "lists" / "staff.txt").write_text(names, encoding="utf-8")

    ran = CliRunner().invoke(app, ["check", str(listing)])

    assert ran.exit_code == 0, ran.output
    said = " ".join(ran.output.split())
    assert "lets stay “Clerk 0”, “Clerk 1” and “Clerk 2” and 497 more" in said
    assert "what one of the 2 patterns “case code” matches" in said
