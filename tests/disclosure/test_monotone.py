"""Once withheld, always withheld: a question shows nothing that another withheld."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdrag.disclosure.history import MemoryHistory, SqliteHistory
from sdrag.errors import HostError, UsageError
from sdrag.pipeline import Engine, Request, disclose
from sdrag.steps import Reply, run
from sdrag.testing import Scripted, canary
from sdrag.vocabulary import Constraint, Finding, Passage, Principal, Span

NAMES = Constraint("names", "Remove names")
DOSES = Constraint("doses", "Hide doses")
TEXT = Passage("p", "Anna came home.")
ANNA, HOME = Span(0, 4), Span(10, 14)
POLICY = {
    "constraints": [{"id": "secret", "text": "Conceal what the witness saw"}],
    "disclosure": {"monotone": True},
    "metadata": {"allow": ["title", "year"]},
}
WORDS = [canary(f"word {number}") for number in range(4)]


class Moody:
    """A locator that finds in a passage what its neighbours make it look for."""

    def locate(self, passages, constraints):
        yield from ()
        wanted = {
            word
            for passage in passages
            for word in WORDS
            if f"look {word}" in passage.text
        }
        return [Reply(tuple(self._found(p, wanted, constraints))) for p in passages]

    def _found(self, passage, wanted, constraints):
        for word in wanted:
            if passage.text.startswith("see") and word in passage.text:
                start = passage.text.index(word)
                for rule in constraints:
                    yield Finding(Span(start, start + len(word)), rule.id)


def engine(policy=POLICY, **options):
    return Engine.build(policy, locator=Moody(), **options)


def shown(passages, built, principal=None, query="?"):
    request = Request(query, principal)
    released = run(disclose(passages, request, built), Scripted()).passages
    return {one.id: one.text for one in released}


def seeing(*places):
    return Passage("p", "see " + " ".join(WORDS[place] for place in places))


def looking(*places):
    return Passage("q", " ".join(f"look {WORDS[place]}" for place in places))


@pytest.fixture(params=["memory", "sqlite"])
def history(request, tmp_path):
    if request.param == "memory":
        return MemoryHistory()
    return SqliteHistory(tmp_path / "history.db")


class TestHistory:
    def test_keeps_what_was_withheld(self, history):
        """Spans are known by text and constraint, and only ever grow."""
        history.add([TEXT], [NAMES], [{"names": (ANNA,)}])

        known = history.add([TEXT], [NAMES, DOSES], [{"doses": (HOME,)}])

        assert known == [{"names": (ANNA,), "doses": (HOME,)}]
        assert history.read([TEXT], [NAMES]) == [{"names": (ANNA,)}]

    def test_edited_text_and_reworded_constraint_are_others(self, history):
        """Offsets into an older text, or of an older wording, mean nothing."""
        history.add([TEXT], [NAMES], [{"names": (ANNA,)}])

        edited = Passage("p", "Bert came home.")
        reworded = Constraint("names", "Remove all names")

        assert history.read([edited], [NAMES]) == [{}]
        assert history.read([TEXT], [reworded]) == [{}]

    def test_forgets_a_chunk_that_left_the_index(self, history):
        history.add([TEXT], [NAMES], [{"names": (ANNA,)}])

        history.forget(["p"])

        assert history.read([TEXT], [NAMES]) == [{}]

    def test_full_history_refuses(self, tmp_path):
        """Nothing is dropped to make room, and a refused addition leaves no trace."""
        for small in (MemoryHistory(1), SqliteHistory(tmp_path / "small.db", 1)):
            small.add([TEXT], [NAMES], [{"names": (ANNA,)}])
            with pytest.raises(HostError):
                small.add([TEXT], [DOSES], [{"doses": (HOME,)}])
            small.add([TEXT], [NAMES], [{"names": (HOME,)}])

            assert small.read([TEXT], [NAMES, DOSES]) == [{"names": (ANNA, HOME)}]

    def test_many_writers_lose_nothing(self, history):
        """Every addition is there in the end, whoever came first."""
        spans = [Span(place, place + 1) for place in range(0, 14, 2)]

        def write(span):
            return history.add([TEXT], [NAMES], [{"names": (span,)}])

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(write, spans * 8))

        assert history.read([TEXT], [NAMES]) == [{"names": tuple(spans)}]
        assert all(answer[0]["names"] for answer in answers)

    def test_file_outlives_the_process_and_holds_no_text(self, tmp_path):
        """Another process finds the same; ids, texts and constraints are hashed."""
        path = tmp_path / "history.db"
        SqliteHistory(path).add([TEXT], [NAMES], [{"names": (ANNA,)}])
        again = pickle.loads(pickle.dumps(SqliteHistory(path)))  # noqa: S301 -- our own

        assert again.read([TEXT], [NAMES]) == [{"names": (ANNA,)}]
        for file in tmp_path.iterdir():
            assert not file.stat().st_mode & 0o077
            assert not any(w in file.read_bytes() for w in (b"Anna", b"names"))

    def test_memory_is_not_pickled(self):
        """An empty history in another process would show what this one withholds."""
        with pytest.raises(UsageError):
            pickle.dumps(MemoryHistory())

    def test_broken_file_is_the_hosts_fault(self, tmp_path):
        path = tmp_path / "history.db"
        path.write_bytes(b"no database, but long enough to be looked at" * 40)

        with pytest.raises(HostError):
            SqliteHistory(path)


class TestRedaction:
    def test_subtraction_works_without(self):
        """Beside another neighbour the word is shown: that is the leak."""
        plain = engine({**POLICY, "disclosure": {}})

        first = shown([seeing(0), looking(0)], plain)
        second = shown([seeing(0), looking(1)], plain)

        assert WORDS[0] not in first["p"]
        assert WORDS[0] in second["p"]

    def test_withheld_stays_withheld(self):
        built = engine()

        first = shown([seeing(0), looking(0)], built)
        second = shown([seeing(0), looking(1)], built)

        assert WORDS[0] not in first["p"] + second["p"]

    def test_history_does_not_spread(self):
        """What a chunk withheld beside others is cut out of that chunk alone."""
        built = engine()
        shown([seeing(0), looking(0)], built)

        other = Passage("r", f"other {WORDS[0]}")

        assert WORDS[0] in shown([seeing(0), other], built)["r"]

    def test_top_k_drops_no_constraint_that_withheld(self):
        """A question worded against a constraint does not bring back what it cut."""
        rules = [{"id": f"c{n}", "text": f"Conceal topic {n}"} for n in range(3)]
        limited = {"apply": "top_k", "top_k": 1, "rank_by": "query", "monotone": True}
        built = engine({"constraints": rules, "disclosure": limited})
        passages = [seeing(0), looking(0)]

        for number in range(3):
            shown(passages, built, query=f"Conceal topic {number}")

        again = run(disclose(passages, Request("Conceal topic 0"), built), Scripted())
        assert WORDS[0] not in again.passages[0].text
        assert "dropped" not in {one.action for one in again.decisions}

    def test_title_year_and_id_stay_withheld(self):
        """Metadata and ids are held to it like texts."""
        built = engine()
        chunk = Passage(
            f"id-{WORDS[0]}", f"see {WORDS[0]}", {"title": f"see {WORDS[0]}"}
        )
        first = run(disclose([chunk, looking(0)], Request("?"), built), Scripted())
        second = run(disclose([chunk, looking(1)], Request("?"), built), Scripted())

        for released in (first.passages[0], second.passages[0]):
            assert WORDS[0] not in released.id + released.text
            assert WORDS[0] not in str(dict(released.metadata))

    def test_constraint_lifted_for_a_principal_withholds_nothing(self):
        """An audience is whom the same constraints bind; all its members share."""
        rule = {**POLICY["constraints"][0], "unless": {"roles": ["judge"]}}
        built = engine({**POLICY, "constraints": [rule]})
        judge = Principal("j", roles=frozenset({"judge"}))
        ann, ben = Principal("ann"), Principal("ben", tenant="other")

        shown([seeing(0), looking(0)], built, ann)

        assert WORDS[0] not in shown([seeing(0)], built, ben)["p"]
        assert WORDS[0] in shown([seeing(0)], built, judge)["p"]

    def test_second_identical_question_is_remembered(self):
        """The cache holds beside a history: no second judging."""
        built, calls = engine(), []

        class Counting(Moody):
            def locate(self, passages, constraints):
                calls.append(1)
                return (yield from super().locate(passages, constraints))

        built = Engine.build(POLICY, locator=Counting())
        for _ in range(3):
            shown([seeing(0), looking(0)], built)

        assert calls == [1]

    def test_full_history_withholds(self):
        """What cannot be remembered does not leave."""
        built = engine(history=MemoryHistory(1))
        shown([seeing(0), looking(0)], built)

        other = Passage("r", f"see {WORDS[1]}")

        assert shown([other, looking(1)], built) == {}

    def test_history_needs_a_monotone_policy(self):
        """A history that nobody would look at is refused, not ignored."""
        with pytest.raises(UsageError):
            engine({**POLICY, "disclosure": {}}, history=MemoryHistory())

    @given(
        st.lists(
            st.tuples(
                st.lists(st.sampled_from(range(4)), max_size=4),
                st.booleans(),
                st.booleans(),
            ),
            min_size=2,
            max_size=8,
        )
    )
    @settings(max_examples=60, deadline=None)
    def test_whatever_is_asked_nothing_comes_back(self, questions):
        """Over any questions, the set of words withheld from a chunk only grows."""
        built = engine()
        chunk = seeing(0, 1, 2, 3)
        gone: set[str] = set()
        for places, first, twice in questions:
            passages = [chunk, looking(*places)]
            passages = passages if first else passages[::-1]
            for _ in range(1 + twice):
                text = shown(passages, built)["p"]
                assert not any(word in text for word in gone)
                gone |= {word for word in WORDS if word not in text}

    def test_questions_side_by_side_take_nothing_back(self, history):
        """Whatever was kept before a question ended its judging, it withholds."""
        built = engine(history=history)
        chunk = seeing(0, 1, 2, 3)

        def ask(number):
            return shown([chunk, looking(number % 4)], built)["p"]

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, range(32)))

        assert not any(word in ask(0) for word in WORDS)
