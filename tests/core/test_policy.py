"""The policy file: what is wrong is named by line and key, in no word of its own."""

from __future__ import annotations

import copy

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sdrag.errors import PolicyError, UsageError
from sdrag.policy import MAX_POLICY_BYTES, Policy

from ..support.scripted import canary
from ..support.tables import each_row

SECRET = canary("constraint")
ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{new}: &{new}\n  <<: [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@each_row(
    "text, line, key",
    [
        ("constraint:\n- a\n", 1, "constraint"),
        ("constraints:\n- a\ndisclosure:\n  bind_top: 5\n", 4, "disclosure.bind_top"),
        ("disclosure:\n  bind_top_n: 0\n", 2, "disclosure.bind_top_n"),
        ("disclosure:\n  top_k: 0\n", 2, "disclosure.top_k"),
        ("disclosure:\n  bind_top_n: many\n", 2, "disclosure.bind_top_n"),
        ("disclosure:\n  timeout_seconds: .inf\n", 2, "disclosure.timeout_seconds"),
        *(
            (f"disclosure:\n  sensitivity: {given}\n", 2, "disclosure.sensitivity")
            for given in ("lowest", "true", "0.5", ".nan", "[1]")
        ),
        ("constraints:\n- ''\n", 2, "constraints.0.text"),
        ("constraints:\n- a\n- text: '  '\n", 3, "constraints.1.text"),
        ("constraints:\n- id: a\n", 2, "constraints.0.text"),
        ("constraints:\n- text: a\n  metod: redact\n", 3, "constraints.0.metod"),
        ("constraints:\n- text: a\n  method: hide\n", 3, "constraints.0.method"),
        ("constraints:\n- text: a\n  where: {d: []}\n", 3, "constraints.0.where.d"),
        (
            "constraints:\n- text: a\n  where_missing: drop\n",
            3,
            "constraints.0.where_missing",
        ),
        ("when_not_understood: ignore\n", 1, "when_not_understood"),
        ("constraints:\n- text: a\n  id: 'no spaces'\n", 3, "constraints.0.id"),
        ("constraints:\n- {id: x, text: a}\n- {id: x, text: b}\n", 1, "constraints"),
        ("constraints: 5\n", 1, "constraints"),
        ("relevance:\n  min_score: 2\n", 2, "relevance.min_score"),
        ("metadata:\n  allow: [lc]\n", 2, "metadata.allow"),
        ("tracing: {}\ntracing: {}\n", 2, "tracing"),
        ("constraints:\n- text: a\n  text: b\n", 3, "constraints.0"),
        ("", 1, ""),
        ("a: [\n", 2, ""),
        ("a: !!python/object:os.system x\n", 1, ""),
        ("? [a, b]\n: c\n", 1, ""),
        ("a: &a [*a]\n", 1, ""),
        (ALIASES, 1, ""),
        (MERGES, 3, ""),
        ("[" * 3_000, None, ""),
        ("a: 2024-99-99\n", None, ""),
        ("a" * (MAX_POLICY_BYTES + 1), None, ""),
    ],
)
def test_broken_policies(text, line, key):
    """Each names its line and its key, and drags nothing along."""
    with pytest.raises(PolicyError) as raised:
        Policy.parse(text)

    assert (raised.value.line, raised.value.key) == (line, key)
    assert raised.value.__context__ is None
    assert raised.value.__cause__ is None


@each_row(
    "text",
    [
        f"constraints:\n- {SECRET}: of witnesses\n",
        f"constraints:\n- Remove {SECRET}: of witnesses\n",
        f"constraints:\n- text: {SECRET}\n  text: {SECRET}\n",
        f"constraints:\n- {SECRET}: a\n  {SECRET}: b\n",
        f"constraints:\n- text: [{SECRET}]\n",
        f"constraints: {SECRET}\n",
        f"constraints:\n- text: {SECRET}\n  method: {SECRET}\n",
        f"constraints:\n- text: {SECRET}\n  id: '{SECRET} {SECRET}'\n",
        f"Remove {SECRET} of: witnesses\n",
        f"constraints:\n- 'Remove {SECRET}\n",
        f"constraints:\n- text: {SECRET}\n  always: {SECRET}\n",
        f"constraints:\n- text: a\n  examples: [{{text: b, hides: [b, {SECRET}]}}]\n",
        f"constraints:\n- text: a\n  examples: [{{text: a, keeps: {SECRET}}}]\n",
        f"constraints:\n- text: a\n  examples: [{{text: {SECRET}}}]\n",
        f"constraints:\n- text: a\n  examples: [{SECRET}]\n",
        f"constraints:\n- text: a\n  examples: [{{text: a, {SECRET}: a}}]\n",
        f"constraints:\n- !!bool {SECRET}\n",
        f"constraints:\n- !!timestamp {SECRET}\n",
    ],
)
def test_no_word_of_a_constraint_stands_in_an_error(text):
    """Neither the message nor the key nor what hangs on the error quotes it."""
    with pytest.raises(PolicyError) as raised:
        Policy.parse(text)

    error = raised.value
    assert SECRET not in f"{error} {error!r} {error.key} {error.hint}"
    assert error.__context__ is None


@example("!!int ''")
@example("- 1" + ":1" * 400 + ".5")
@example("- 1" + ":1" * 400_000)
@given(st.text(st.sampled_from("ab:-[]{}&*!?|>'\"#%@,<~ \n\t0\x00\ufeff")) | st.text())
def test_any_text_is_a_policy_or_an_error_of_ours(text):
    """No text makes anything else happen."""
    try:
        Policy.parse(text)
    except PolicyError as error:
        dragged = error.__context__
    else:
        dragged = None

    assert dragged is None


def test_three_lines_make_a_policy():
    """Everything has a default; guards that empty results are off."""
    policy = Policy.parse("constraints:\n- Remove names of witnesses\n- Hide doses\n")

    assert [rule.id for rule in policy.rules] == ["c1", "c2"]
    assert policy.disclosure.bind_top_n == 50
    assert policy.disclosure.top_k is None
    assert policy.guards == ()
    assert Policy.read(policy) is policy


def test_a_file_that_is_no_policy(tmp_path):
    """It is an error of ours, without the other's words, before YAML is read."""
    large, latin = tmp_path / "large.yaml", tmp_path / "latin.yaml"
    large.write_bytes(b"a" * (MAX_POLICY_BYTES + 1))
    latin.write_bytes(b"constraints: ['\xff']")
    sources = ["missing.yaml", ".", "nul\0", "x" * 5_000, large, latin]
    for source in sources:
        with pytest.raises(PolicyError, match=r"cannot be read|too large|8") as raised:
            Policy.read(source)

        assert raised.value.__context__ is None


def test_a_list_by_position_is_told_the_right_call():
    """People try it first; no word of the list is in the error."""
    with pytest.raises(UsageError, match=r"Policy\.read") as raised:
        Policy(["Remove Meyers"])

    assert "Meyers" not in str(raised.value)


BASE = {
    "constraints": [
        {
            "text": "Remove names",
            "id": "a",
            "where": {"d": [1]},
            "unless": {"roles": ["x"]},
        }
    ],
    "disclosure": {"bind_top_n": 7},
    "metadata": {"allow": ["title"]},
}


@each_row(
    "place, value",
    [
        (("constraints", 0, "text"), "Remove name"),
        (("constraints", 0, "id"), "b"),
        (("constraints", 0, "method"), "withhold"),
        (("constraints", 0, "always"), True),
        (("constraints", 0, "where_missing"), "skip"),
        (("when_not_understood",), "withhold"),
        (("constraints", 0, "where"), {"d": [True]}),
        (("constraints", 0, "where"), {"d": ["1"]}),
        (("constraints", 0, "unless"), {"roles": ["y"]}),
        (("disclosure", "bind_top_n"), 8),
        (("disclosure", "placeholder"), "[...]"),
        (("disclosure", "rank_by"), "query"),
        (("metadata", "allow"), ["title", "page"]),
        (("access",), {}),
        (("tracing",), {"inner": "shown"}),
        (("linkage",), {"chain_length": 3}),
    ],
)
def test_the_hash_changes_with_anything(place, value):
    """Every key, whatever it holds, is part of the hash."""
    data = copy.deepcopy(BASE)
    inner = data
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value

    assert Policy.read(data).hash != Policy.read(BASE).hash
    assert Policy.read(copy.deepcopy(BASE)).hash == Policy.read(BASE).hash


def test_no_repr_shows_a_constraints_text():
    """Not of the policy, its parts, or what the core makes of them."""
    policy = Policy.read(
        {"constraints": [SECRET, {"text": f"Hide {SECRET}", "id": "x"}]}
    )
    shown = f"{policy!r} {policy} {policy.rules!r} {policy.constraints!r} {[policy]}"

    assert SECRET not in shown
    assert "x" in shown


NAMES, DOSES = "Remove names of witnesses", "Hide exact doses"


@pytest.mark.parametrize(
    "source",
    [
        (NAMES, DOSES),
        [NAMES, {"text": DOSES}],
        [{"text": NAMES}, {"text": DOSES, "id": "c2"}],
        f"- {NAMES}\n- {DOSES}\n",
        f"# our rules\n\n- {NAMES}\n- text: {DOSES}\n",
        f"---\n- >\n  {NAMES}\n- '{DOSES}'\n",
    ],
)
def test_a_list_is_a_list_of_constraints(source, tmp_path):
    """With ids as elsewhere, in a file and in code."""
    if isinstance(source, str):
        path = tmp_path / "policy.yaml"
        path.write_text(source)
        source = path
    read, whole = Policy.read(source), Policy.read({"constraints": [NAMES, DOSES]})

    assert [(rule.id, rule.text) for rule in read.rules] == [
        ("c1", NAMES),
        ("c2", DOSES),
    ]
    assert read.hash == whole.hash


@each_row(
    "source, line, key",
    [
        ([NAMES, ""], None, "constraints.1.text"),
        ([NAMES, "x" * 2_001], None, "constraints.1.text"),
        ([NAMES, 5], None, "constraints.1"),
        ([[NAMES]], None, "constraints.0"),
        ([{"text": NAMES, "id": "c2"}, DOSES], None, "constraints"),
        ([{"text": NAMES, "methd": "redact"}], None, "constraints.0.methd"),
        (f"- {NAMES}\n- text: {DOSES}\n  methd: redact\n", 3, "constraints.1.methd"),
        (f"- {NAMES}\n- ''\n", 2, "constraints.1.text"),
        (f"- {NAMES}: all\n", 1, "constraints.0.text"),
        (f"- {NAMES}\nconstraints:\n- {DOSES}\n", 2, None),
        (f"{NAMES}\n", 1, None),
        *((given, None, None) for given in (5, None, {NAMES}, NAMES.encode(), Policy)),
    ],
)
def test_what_is_no_policy_is_refused(source, line, key):
    """With the line and the key, in no word of it; never by a TypeError."""
    with pytest.raises(PolicyError) as raised:
        Policy.parse(source) if isinstance(source, str) else Policy.read(source)

    assert (raised.value.line, raised.value.key or None) == (line, key)
    assert "witnesses" not in f"{raised.value} {raised.value.hint}"
    assert raised.value.__cause__ is None


EXAMPLE = """\
constraints:
- text: a
  examples:
  - text: She took 20 mg.
    {quoted}
"""


@each_row(
    "quoted, key",
    [
        ("hides: [20 mg, 30 mg]", "hides"),
        ("keeps: She slept", "keeps"),
        ("hides: ''", "hides"),
        ('hides: ["\\u200b"]', "hides"),
        ("hides: [5]", "hides.0"),
        ("hide: 20 mg", "hide"),
        ("hides: []", ""),
    ],
)
def test_what_an_example_quotes_occurs_in_its_text(quoted, key):
    """Otherwise the error names the line and the key; which entry, by its number."""
    with pytest.raises(PolicyError) as raised:
        Policy.parse(EXAMPLE.format(quoted=quoted))

    place = "constraints.0.examples.0"
    assert raised.value.key == (f"{place}.{key}" if key else place)
    assert raised.value.line == (5 if key else 4)


def test_an_example_quotes_folded_or_bare():
    """A bare string is a list of one, and neither case nor look-alikes matter."""
    for quoted in ("hides: 20 mg", "hides: [20 MG, she]", "keeps: took"):
        (entry,) = Policy.parse(EXAMPLE.format(quoted=quoted)).constraints

        (example,) = entry.examples
        assert len(example.hides + example.keeps) == quoted.count(",") + 1
        assert "20" not in f"{entry!r} {example!r}"


def test_a_copy_with_other_fields_obeys_them():
    """Nothing that was made of the old ones stays."""
    policy = Policy.read(BASE)
    assert policy.rules
    copied = policy.model_copy(update={"constraints": ()})

    assert copied.rules == ()
    rest = {key: value for key, value in BASE.items() if key != "constraints"}
    assert copied.hash == Policy.read({**rest, "access": None}).hash != policy.hash


@each_row(
    "text, meant",
    [
        ("disclosur: {}\n", "disclosure"),
        ("disclosure:\n  bind_top: 5\n", "bind_top_n"),
        ("linkage:\n  chain_lenght: 2\n", "chain_length"),
        ("acces: {}\n", "access"),
        ("access:\n  tennant_key: t\n", "tenant_key"),
        ("constraints:\n- {text: a, metod: redact}\n", "method"),
        (EXAMPLE.format(quoted="hide: 20 mg"), "hides"),
    ],
)
def test_a_misspelt_key_is_told_the_nearest_one(text, meant):
    """Of the section it stands in."""
    with pytest.raises(PolicyError, match=f"Did you mean `{meant}`"):
        Policy.parse(text)


def test_guards_are_the_sections_that_stand_in_the_file():
    """Those that are off until then, whichever they are."""
    assert Policy.read({"disclosure": {}, "highlight": {}}).guards == ()
    every = {
        *("access", "relevance", "injection", "staleness", "grounding", "citations"),
        *("contradictions", "monitoring"),
    }
    assert set(Policy.read({name: {} for name in every}).guards) == every
