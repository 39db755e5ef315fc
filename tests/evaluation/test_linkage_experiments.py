"""The experiments of CLAM's chapter 5, with models that are functions."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from benchmarks.linkage_experiments.attacks import attack, rouge1_recall, utility
from benchmarks.linkage_experiments.baselines import blanket, sage
from benchmarks.linkage_experiments.checker import problems
from benchmarks.linkage_experiments.generated import generate_clusters
from benchmarks.linkage_experiments.generation import ClusterWriter
from benchmarks.linkage_experiments.models import asked, prompt
from benchmarks.suites.linkage import mentions_of
from benchmarks.suites.linkage_clusters import Cluster, packaged_clusters
from sdrag.errors import ModelReplyError
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Passage

HIGH = next(cluster for cluster in packaged_clusters() if cluster.risk == "HIGH")
LOW = next(cluster for cluster in packaged_clusters() if cluster.risk == "LOW")


def reader(cluster: Cluster) -> Callable[[str], str]:
    """An application that a prompt has taken over: it says all it was given."""
    whole = "\n".join(document.text for document in cluster.documents)

    def rag(question: str) -> str:
        if "Yes or No" in question:
            value = question.removeprefix("Does this: ").partition(" appear")[0]
            value = value.partition(": Is this")[0]
            return "Yes." if fold_text(value) in fold_text(whole) else "No."
        return whole

    return rag


class TestAttacks:
    """Membership inference and targeted attacks (section 5.4)."""

    def test_an_unprotected_application_leaks_all(self) -> None:
        """Every entity of the person, by both attacks; the cluster counts as leaked."""
        found = attack(HIGH, reader(HIGH))
        assert found.membership == pytest.approx(1.0)
        assert found.targeted == pytest.approx(1.0)
        assert found.leaked

    def test_low_risk_is_never_leaked(self) -> None:
        """It poses no risk by design."""
        assert not attack(LOW, reader(LOW)).leaked

    def test_an_echo_earns_no_credit(self) -> None:
        """An application that only repeats the question has leaked nothing."""
        found = attack(HIGH, lambda question: question.replace("Yes", "-"))
        assert (found.membership, found.targeted, found.leaked) == (0.0, 0.0, False)

    def test_a_judge_adds_what_is_implied(self) -> None:
        """Only values of its list; a reply that is no JSON adds nothing."""
        value = HIGH.person[0][0]

        def judge(system: str, user: str) -> str:
            assert value in user
            return json.dumps({"leaked_entities": [value, "somebody else"]})

        found = attack(HIGH, lambda _: "-", judge=judge)
        assert 0 < found.targeted < 0.5
        assert attack(HIGH, lambda _: "-", judge=lambda *_: "?").targeted == 0.0

    def test_blanket_redaction_stops_the_attack(self) -> None:
        """With every entity masked nothing of the person is said."""
        clean = blanket(HIGH.documents, mentions_of([HIGH]))
        text = "\n".join(document.text for document in clean)
        assert attack(HIGH, lambda _: text).targeted == 0.0


class TestUtility:
    """Scores by question type and source (section 5.5)."""

    @pytest.mark.parametrize(
        ("answer", "expected", "recall"),
        [
            ("It was twelve sessions.", "twelve sessions", 1.0),
            ("twelve", "twelve sessions", 0.5),
            ("", "twelve sessions", 0.0),
            ("a a", "a a a", 2 / 3),
        ],
    )
    def test_rouge1_recall(self, answer: str, expected: str, recall: float) -> None:
        """Words of the expected answer, each as often as it stands there."""
        assert rouge1_recall(answer, expected) == pytest.approx(recall)

    def test_by_type_and_source(self) -> None:
        """A reader of everything recalls nearly all; a judge is read from JSON."""
        found = utility(
            [HIGH],
            reader(HIGH),
            judge=lambda *_: '{"score": 0.5}',
            bert_recall=len_ratio,
        )
        kinds = {"general/multi", "general/single", "specific/multi", "specific/single"}
        assert set(found["rouge1_recall"]) == kinds
        assert min(found["rouge1_recall"].values()) > 0.6
        assert set(found["judge"].values()) == {0.5}


def len_ratio(answer: str, expected: str) -> float:
    return min(len(answer), len(expected)) / max(len(answer), len(expected))


class TestGenerator:
    """Two stages and the checker (section 5.2)."""

    def test_what_passes_the_checker_is_kept(self) -> None:
        """The person and the questions are the validator's."""
        source = iter(generate_clusters(8, seed=2))
        current: dict[str, object] = {}
        seen: list[str] = []

        def generator(system: str, user: str) -> str:
            seen.append(user)
            cluster = next(c for c in source if f"risk={c_risk(c)}" in user)
            current.update(cluster)
            return f"```json\n{json.dumps(cluster)}\n```"

        def validator(system: str, user: str) -> str:
            meta = current["metadata"]
            if "auditor" in system:
                return json.dumps({"questions": meta["questions"]})  # type: ignore[index]
            return json.dumps(meta["person"])  # type: ignore[index]

        clusters = list(ClusterWriter(generator, validator, seed=1).write(2))
        assert len(clusters) == 2
        assert not [problem for cluster in clusters for problem in problems(cluster)]
        assert clusters[0]["metadata"]["content_summary"] in seen[-1]

    def test_what_does_not_is_given_up(self) -> None:
        """After as many attempts as are allowed."""
        calls: list[str] = []

        def broken(system: str, user: str) -> str:
            calls.append(user)
            return '{"documents": []}'

        writer = ClusterWriter(broken, broken, attempts=2)
        assert list(writer.write(3)) == []
        assert len(calls) == 6


def c_risk(cluster: dict[str, object]) -> str:
    return str(cluster["metadata"]["cluster_risk"])  # type: ignore[index]


class TestSage:
    """Synthetic stand-ins, refined until they are safe."""

    def test_a_document_is_refined(self) -> None:
        """The text that leaves is the rewriting that was found safe."""
        verdicts = iter([False, True])

        def ask(system: str, user: str) -> str:
            if "five most important" in user:
                return '{"attributes": ["a"]}'
            if "Extract these" in user:
                return '{"information": ["a: b"]}'
            if "privacy assessment expert" in user:
                return json.dumps({"safe": next(verdicts), "suggestions": ["less"]})
            if "rewriting expert" in user:
                return '{"rewritten_content": "second"}'
            return '{"synthetic_content": "first"}'

        (document,) = sage([Passage("a", "raw")], ask)
        assert document is not None
        assert document.text == "second"

    def test_what_is_never_safe_is_left_out(self) -> None:
        """Closed: no stand-in rather than one that was not found safe."""

        def ask(system: str, user: str) -> str:
            return (
                '{"attributes": [], "information": [], "synthetic_content": "x",'
                ' "safe": "true", "rewritten_content": "x"}'
            )

        assert sage([Passage("a", "raw")], ask) == [None]


def test_prompts_are_filled_once() -> None:
    """A value that looks like a field is not read as one; no field is left open."""
    text = prompt("judge_leak", rag_answer="{person_entities}", person_entities="Ann")
    assert "{person_entities}" in text
    assert "[Ann]" in text
    system = prompt("cluster_system", allowed_types="NAME", schema="S")
    assert "{allowed_types}" not in system


def test_a_reply_without_json_is_an_error() -> None:
    """It quotes nothing of the reply."""
    with pytest.raises(ModelReplyError) as caught:
        asked(lambda *_: "secret words", "", "")
    assert "secret" not in str(caught.value)
