"""Bindings: whatever order and number of writers, the top N of the whole corpus."""

from __future__ import annotations

import pickle
from dataclasses import replace

import networkx as nx
import pytest

from sdrag.disclosure.binding import bind
from sdrag.effects.steps import run
from sdrag.errors import UsageError
from sdrag.policy import DisclosureSection
from sdrag.state import open_state
from sdrag.state.bindings import Binding
from sdrag.vocabulary import Constraint, Passage

from ..support.scripted import Scripted
from ..support.tables import each_row

RULES = (Constraint("a", "Remove names"), Constraint("b", "Hide doses"))
CORPUS = [Passage(f"p{i:02}", f"text {i}") for i in range(40)]
SCORES = {
    (r.id, p.id): ((i * 37 + j * 11) % 101) / 101
    for j, r in enumerate(RULES)
    for i, p in enumerate(CORPUS)
}


def write(store, passages, top_n=5, floor=1.0, rules=RULES):
    found = [Binding(r.id, p.id, SCORES[r.id, p.id]) for r in rules for p in passages]
    store.write(passages, rules, found, top_n=top_n, floor=floor)


@pytest.fixture(params=["file", "postgres"])
def store(request, tmp_path):
    if request.param == "postgres":
        return open_state(request.getfixturevalue("postgres_url")).bindings
    return open_state(tmp_path / "state.db").bindings


def whole(top_n=5, floor=1.0):
    one = open_state().bindings
    write(one, CORPUS, top_n, floor)
    return one.read(CORPUS, RULES)


@pytest.mark.parametrize("size", [1, 7, 40])
def test_batches_end_where_the_whole_corpus_does(store, size):
    """The top N over batches is the top N over everything."""
    for start in range(0, len(CORPUS), size):
        write(store, CORPUS[start : start + size])

    assert store.read(CORPUS, RULES) == whole()


def test_a_floor_adds_to_the_top_n(store):
    for start in range(0, len(CORPUS), 7):
        write(store, CORPUS[start : start + 7], floor=0.8)

    bound = store.read(CORPUS, RULES)
    assert bound == whole(floor=0.8)
    assert sum(map(len, bound)) > sum(map(len, whole()))


@each_row(
    "passage, rules, known",
    [
        (CORPUS[0], RULES, True),
        (CORPUS[0], RULES[:1], True),
        (CORPUS[0], (), True),
        (replace(CORPUS[0], text="edited"), RULES, False),
        (Passage("new", "text"), RULES, False),
        (CORPUS[0], (*RULES, Constraint("c", "Another")), False),
        (CORPUS[0], (Constraint("a", "Remove all names"), RULES[1]), False),
        (CORPUS[0], (Constraint("z", "Remove names"),), False),
    ],
)
def test_what_reads_differently_was_never_bound(store, passage, rules, known):
    """An edited passage, a reworded or added constraint: doubt, not silence."""
    write(store, CORPUS)

    (found,) = store.read([passage], rules)

    assert (found is not None) is known


def test_an_edited_passage_is_bound_anew(store):
    """What was known of the older text is forgotten, as is what left the index."""
    write(store, CORPUS[:3])
    edited = replace(CORPUS[0], text="edited")
    write(store, [edited], rules=RULES[:1])

    assert store.read([edited], RULES) == [None]
    assert store.read([edited], RULES[:1]) == [{"a": SCORES["a", "p00"]}]
    store.forget(["p01"])
    assert store.read([CORPUS[1]], RULES) == [None]
    store.write([CORPUS[1]], RULES, [], top_n=5, floor=1.0)
    assert store.read([CORPUS[1]], RULES) == [{}]


def test_another_process_opens_a_file_by_its_path(tmp_path):
    """A state is pickled as where it lies, and one in memory not at all."""
    state = open_state(tmp_path / "state.db")
    write(state.bindings, CORPUS)

    assert pickle.loads(pickle.dumps(state)).bindings.read(CORPUS, RULES) == whole()  # noqa: S301
    with pytest.raises(UsageError, match="in memory"):
        pickle.dumps(open_state())


@each_row(
    "noise, order",
    [(noise, order) for noise in (0.0, 1e-7, -1e-7, 3e-6, -3e-6) for order in (1, -1)],
)
def test_of_equals_those_with_the_least_ids_are_bound(noise, order):
    """Whatever their order in the batch, and whatever a processor adds to a score."""
    passages = [Passage(f"p{n}", f"text {n}") for n in range(6)][::order]
    rules = (Constraint("a", "Remove names"),)
    section = DisclosureSection(bind_top_n=2, similarity_floor=0.9)

    def vectors(texts):
        rows = [[1.0, 1.0 + noise * n] for n in range(len(texts))]
        return [
            [1.0, 0.0] if "Remove" in text else row
            for text, row in zip(texts, rows, strict=True)
        ]

    state = open_state()
    run(bind(passages, rules, state, section), Scripted(embed=vectors))

    passages.sort(key=lambda passage: passage.id)
    assert state.bindings.read(passages, rules) == [{"a": 0.7071}] * 2 + [{}] * 4


def test_the_binding_graph_says_what_is_bound(store, tmp_path):
    """Constraints, chunks and similarities; what was removed is not in it; no text."""
    write(store, CORPUS)
    graph = store.graph(RULES[:1])

    edges = {
        ("constraint:a", f"chunk:{passage.id}"): bound["a"]
        for passage, bound in zip(CORPUS, store.read(CORPUS, RULES[:1]), strict=True)
        if bound
    }
    drawn = graph.edges(data="similarity")
    assert {(rule, chunk): score for rule, chunk, score in drawn} == edges
    assert nx.is_bipartite(graph)
    kinds = [kind for _, kind in graph.nodes(data="kind")]
    assert kinds == ["constraint"] + ["chunk"] * len(CORPUS)
    nx.write_graphml(graph, tmp_path / "bindings.graphml")
    again = nx.read_graphml(tmp_path / "bindings.graphml")
    assert (again.adj, again.nodes) == (graph.adj, graph.nodes)
