"""How close chunks are to constraints: kept with what they were, and nothing else."""

from __future__ import annotations

import pickle
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from sdrag.errors import UsageError
from sdrag.state import Closeness, Vectors, open_state
from sdrag.vocabulary import Constraint, Passage

RULES = [Constraint(name, f"Hide {name}") for name in ("names", "dates", "sums")]
CHUNKS = [
    Passage("a", "one", document_id="d"),
    Passage("b", "two", document_id="d"),
    Passage("c", "three"),
]
DENSE = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]], np.float32)
CLOSE = Closeness(DENSE, DENSE / 2)


@pytest.fixture(params=["memory", "file"])
def reopened(request, tmp_path):
    """Return how a state is opened again that holds the closeness of all chunks."""
    path = tmp_path / "state.sqlite"
    state = open_state(None if request.param == "memory" else path)
    state.affinities.note(CHUNKS, RULES, CLOSE)
    return lambda: state if request.param == "memory" else open_state(path)


class TestAffinities:
    @pytest.mark.parametrize(
        ("passages", "rules", "expected"),
        [
            (CHUNKS, RULES, DENSE),
            (CHUNKS[::-1], RULES[::-1], DENSE[::-1, ::-1]),
            (CHUNKS[1:2], RULES[2:], [[0.8]]),
            ([replace(CHUNKS[0], text="One"), CHUNKS[1]], RULES[:1], [[np.nan, 0.2]]),
            ([Passage("z", "one")], RULES[:1], [[np.nan]]),
            ([CHUNKS[0]], [replace(RULES[0], text="Hide all names")], [[np.nan]]),
            ([CHUNKS[0]], [replace(RULES[0], id="other")], [[np.nan]]),
            ([CHUNKS[0]], [Constraint("x", "Hide x"), RULES[1]], [[np.nan], [0.4]]),
            ([], RULES[:1], np.empty((1, 0))),
        ],
    )
    def test_known_is_what_reads_as_it_did(self, reopened, passages, rules, expected):
        """Anything that is new, edited or reworded is not known; the rest is."""
        known = reopened().affinities.known(passages, rules)

        expected = np.array(expected, dtype=np.float32)
        assert known.dense.dtype == known.joined.dtype == np.float32
        np.testing.assert_allclose(known.dense, expected, atol=5e-4)
        np.testing.assert_allclose(known.joined, expected / 2, atol=5e-4)

    def test_a_chunk_of_no_document_has_no_vote(self, reopened):
        """It is known by itself, and speaks for no document."""
        votes = reopened().affinities.read(RULES)

        assert votes.keys() == {"d"}
        assert votes["d"]["names"] == pytest.approx(0.075, abs=5e-4)

    def test_chunks_bound_against_other_constraints(self, reopened):
        """Each chunk is known against those that it was compared with last."""
        state = reopened()
        one = Closeness(np.array([[-0.5]], np.float32), np.array([[0.25]], np.float32))
        state.affinities.note(CHUNKS[:1], RULES[2:], one)

        known = state.affinities.known(CHUNKS[:2], RULES)

        expected = [[np.nan, 0.2], [np.nan, 0.5], [-0.5, 0.8]]
        np.testing.assert_allclose(known.dense, expected, atol=5e-4)

    @pytest.mark.parametrize("many", [10, 100, 400, 900])
    def test_a_row_takes_no_page_of_its_own(self, many, tmp_path):
        """Long rows share pages, so a chunk takes what its similarities take."""
        state, count = open_state(tmp_path / "state.sqlite"), 200
        rules = [Constraint(f"c{n}", f"Hide {n}") for n in range(many)]
        chunks = [Passage(f"p{n}", str(n)) for n in range(count)]
        close = np.zeros((many, count), dtype=np.float32)

        state.affinities.note(chunks, rules, Closeness(close, close))

        with sqlite3.connect(tmp_path / "state.sqlite") as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
        assert pages * 4096 / count < 4 * many + 1000


class TestVectors:
    @staticmethod
    def rows(*names):
        return {name: np.full(3, float(name[0]), np.float32) for name in names}

    def test_the_ones_unused_for_longest_make_room(self):
        vectors = Vectors(2)
        vectors.put(self.rows(b"a", b"b"))
        vectors.get([b"a"])
        vectors.put(self.rows(b"c"))

        assert vectors.get([b"a", b"b", b"c", b"d"]).keys() == {b"a", b"c"}

    def test_each_is_copied(self):
        """A row of a batch does not keep the batch."""
        matrix = np.ones((2, 3), dtype=np.float32)
        vectors = Vectors()
        vectors.put({b"a": matrix[0]})
        matrix[0] = 0

        (row,) = vectors.get([b"a"]).values()
        assert row.tolist() == [1, 1, 1]
        assert row.base is None

    def test_it_shows_and_pickles_nothing(self):
        vectors = Vectors()
        vectors.put(self.rows(b"a"))

        assert repr(vectors) == "Vectors()"
        with pytest.raises(UsageError):
            pickle.dumps(vectors)

    def test_a_wrapper_takes_a_state_with_a_memory_of_its_own(self, tmp_path):
        """All else is shared; a state as it was opened remembers nothing."""
        state = open_state(tmp_path / "state.sqlite")
        one, other = state.remembering(), state.remembering()
        for each in (state, one):
            each.vectors.put(self.rows(b"a"))

        assert one.vectors.get([b"a"])
        assert not other.vectors.get([b"a"])
        assert not state.vectors.get([b"a"])
        assert one == other == state
        assert one.bindings is state.bindings
        again = pickle.loads(pickle.dumps(one))  # noqa: S301 -- our own
        assert again.name == state.name
        assert not again.vectors.get([b"a"])
