"""What a session could put together: the thesis's chains, and no more than allowed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.linkage.pairs import canonical
from sdrag.linkage.session import History, chain_risk
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import LinkageSection
from sdrag.state import open_state, tables
from sdrag.state.ledger import MOST_FACTS, Shown
from sdrag.vocabulary import Passage, Principal

from ..support.tables import each_row
from .literal import Literal

CLINIC = Passage(
    "a", "A man of 43 was at Riverside Clinic on 4 May 2021.", document_id="A"
)
BOAT = Passage(
    "b",
    "The owner of the boat was at Riverside Clinic on 4 May 2021, and sang.",
    {"title": "Riverside Clinic", "shelf": "7"},
    document_id="B",
)
TIDE = Passage("c", "The tide was low on 7 June 2020.", document_id="C")
FACTS = st.dictionaries(
    st.sampled_from("abcdef"), st.floats(0.3, 0.95).map(lambda c: round(c, 2))
)
DOCUMENTS = st.sampled_from([b"A", b"B", b"C", b"D"])
PASSAGES = st.builds(Shown, st.binary(min_size=2, max_size=2), DOCUMENTS, FACTS)
LISTS = st.lists(PASSAGES, max_size=8, unique_by=lambda row: row.text)


def shows(policy=None, state=None, **session):
    """Return a way to ask for passages, which returns texts and decisions."""
    given = {"session": session, "metadata": {"allow": ["title", "shelf"]}}
    engine = Engine({**given, **(policy or {})}, state=state or open_state())

    def ask(*passages, **request):
        released, _ = engine.run(disclose(passages, Request("?", **request), engine))
        limits = [each for each in released.decisions if each.rule == "session"]
        return released.passages, limits

    return ask


@given(LISTS)
def test_the_risk_is_that_of_the_thesis(rows):
    """Of the riskiest chain through a document, as a literal reading has it."""
    section = LinkageSection(chain_length=3)
    corpus: dict[str, dict[str, float]] = {}
    for row in rows:
        held = corpus.setdefault(row.document.decode(), {})
        held.update({k: max(c, held.get(k, 0.0)) for k, c in row.facts.items()})
    literal = Literal(corpus, {}, section)
    literal.scale = lambda entity: 1.0  # how many documents have it is not known
    shown = {name.encode(): facts for name, facts in corpus.items()}

    for name in corpus:
        risks = [
            literal.chain_risk(c, set()) for c in literal.chains(set()) if name in c
        ]
        expected = pytest.approx(max(risks, default=0.0))
        assert chain_risk(name.encode(), shown, section) == expected


@given(
    st.lists(PASSAGES, max_size=9, unique_by=lambda row: row.text), st.floats(0.05, 1.0)
)
def test_no_session_reaches_the_risk(rows, most):
    """Whatever it asks for, in whatever order, and however often."""
    section = LinkageSection()
    history, shown = History([], section), {}
    for row in (*rows, *rows):
        if history.risk_with(row) < most:
            history.add(row)
            held = shown.setdefault(row.document, {})
            held.update({k: max(c, held.get(k, 0.0)) for k, c in row.facts.items()})

    assert all(chain_risk(name, shown, section) < most for name in shown)


def test_what_completes_a_chain_is_limited_by_the_policy():
    """Coarse without its facts, withheld, or flagged; what links nothing is whole."""
    for action, did, texts in (
        ("decline", "withheld", []),
        ("answer", "flagged", [BOAT.text]),
        (
            "coarsen",
            "redacted",
            ["The owner of the boat was at [organisation] on [date], and sang."],
        ),
    ):
        ask = shows(action=action)
        assert ask(CLINIC)[0][0].text == CLINIC.text

        released, (decision,) = ask(BOAT)

        assert [passage.text for passage in released] == texts
        assert (decision.action, decision.reason) == (did, "session-risk")
        assert [p.text for p in ask(TIDE, CLINIC)[0]] == [TIDE.text, CLINIC.text]
        assert len(ask(CLINIC, BOAT, session_id="of one question")[1]) == 1
    assert released[0].metadata["shelf"] == "7"
    assert "title" not in released[0].metadata


def test_a_mark_is_no_fact():
    """What stands in place of two names may look like a name, and links nothing."""
    policy = {
        "constraints": ["Remove the names of people"],
        "disclosure": {"placeholder": "Mr Carl Berg"},
    }
    ask = shows(policy)
    passages = [
        Passage("a", "Anna Karlsson signed it.", document_id="a"),
        Passage("b", "Piotr Okonkwo sold the boat.", document_id="b"),
    ]

    released, limits = ask(*passages)

    assert all("Mr Carl Berg" in passage.text for passage in released)
    assert not limits


def test_who_is_one_session():
    """A session is its principal's; without an id all of a principal is one."""
    ada, bob = Principal("ada"), Principal("bob")
    ask = shows()
    ask(CLINIC, principal=ada, session_id="s")
    ask(CLINIC, principal=bob)

    assert [
        bool(ask(BOAT, principal=who, session_id=name)[1])
        for who, name in ((ada, "s"), (ada, "t"), (ada, None), (bob, "s"), (bob, None))
    ] == [True, False, False, False, True]


def test_what_was_shown_counts_within_the_window():
    """Once it is over, all of it is forgotten; each showing begins a new one."""
    ask = shows(window_seconds=60)
    start = Request("?").now
    asked = (
        (0, CLINIC, 0),
        (59, BOAT, 1),
        (59, CLINIC, 0),
        (118, BOAT, 1),
        (119, BOAT, 0),
    )
    for seconds, passage, limited in asked:
        now = start.fromtimestamp(start.timestamp() + seconds, start.tzinfo)
        assert len(ask(passage, now=now)[1]) == limited


def test_a_session_that_never_ends_stays_bounded():
    """Where there is no room, nothing more is shown that tells a fact."""
    history = History([], LinkageSection())
    for number in range(3 * MOST_FACTS // 100):
        row = Shown(
            b"%d" % number, b"%d" % number, dict.fromkeys(map(str, range(100)), 0)
        )
        if history.fits(row):
            history.add(row)

    assert sum(map(len, history.documents.values())) == MOST_FACTS
    assert history.fits(Shown(b"0", b"0", {"a": 0.5}))
    assert not history.fits(Shown(b"new", b"new", {"a": 0.5}))


def test_of_all_sessions_the_first_to_end_make_room(monkeypatch):
    """The table is bounded, whoever asks."""
    monkeypatch.setattr("sdrag.state.ledger._MOST_ROWS", 3)
    monkeypatch.setattr("sdrag.state.statements._EVICTED_AT", 1.0)
    ledger, held = open_state().ledger, []
    for number in range(9):
        row = Shown(b"text", b"document", {"fact": 0.5})
        ledger.update(b"%d" % number, lambda known, row=row: [row], 0.0, 9.0 + number)
    for number in range(9):
        ledger.update(b"%d" % number, lambda known: held.append(len(known)) or (), 0, 9)

    assert held == [0] * 6 + [1] * 3


def test_what_was_shown_is_known_to_its_session_until_it_ends(monkeypatch):
    """As it was written; what has ended is gone, whoever asks."""
    monkeypatch.setattr("sdrag.state.statements._EVICTED_AT", 1.0)
    state, held = open_state(), []
    rows = [Shown(b"t", b"d", {"a": 0.5, "b": 1.0}), Shown(b"s", b"e", {})]

    def read(session, now):
        held.clear()
        state.ledger.update(session, lambda known: held.extend(known) or (), now, 9.0)
        return held

    state.ledger.update(b"one", lambda known: rows, 0.0, 9.0)

    assert read(b"one", 8.9) == rows[::-1]
    assert read(b"two", 8.9) == []
    assert read(b"two", 9.0) == []
    with state.database.reading() as connection:
        assert not connection.execute(tables.shown.select()).all()


_NAME = "Annika Karlsson owns the red boat."
_BORN = "She was born on 4 May 1971."
_MAIL = "Write to annika.karlsson@fjord.example now."
AGAIN = [
    # over line ends, disguised and encoded
    (_NAME, "The boat of Annika\r\n    Karlsson was sold."),
    (_NAME, "The boat of Annika Karls-\nson was sold."),
    (_NAME, "The boat of Annika Karls\u00adson was sold."),
    (_NAME, "The boat of Anni\u200bka Karls\u200bson was sold."),
    (_NAME, "The boat of Annika K&#97;rlsson was sold."),
    (_NAME, "The boat of Annika%20Karlsson was sold."),
    (_NAME, "Owner: QW5uaWthIEthcmxzc29uIG93bnMgaXQ="),
    (_NAME, r"The boat of Annika K\u0061rlsson was sold."),
    (_NAME, "The boat of Annika K<b>arls</b>son was sold."),
    (_NAME, "The boat of Annika K\u0430rlsson was sold."),
    (_NAME, "The boat of \uff21\uff4e\uff4e\uff49\uff4b\uff41 \uff2barlsson was sold."),
    # in other forms, and where no detector sees it
    (_NAME, "The boat of A. Karlsson was sold."),
    (_NAME, "Owner: Karlsson, Annika. The boat was sold."),
    (_NAME, "Owner: KARLSSON ANNIKA. The boat was sold."),
    (_NAME, "Sold. The boat of annika karlsson was sold, said Tom."),
    (_NAME, "The scan is karlsson_boat.pdf."),
    (
        "Mr J\u00fcrgen M\u00fcller owns the boat.",
        "The boat of Juergen Mueller is red.",
    ),
    ("Robert Meyers owns the boat.", "The boat of Robert Meyers Jr. was sold."),
    (_NAME, "See https://quay.example/people/annika-karlsson for the boat."),
    (_NAME, "The account annikaKarlsson was closed."),
    (_NAME, "The boat of K4rlss0n was sold."),
    # addresses of e-mail
    (_NAME, "Write to annika.karlsson@fjord.example about the boat."),
    (_NAME, "Write to akarlsson@fjord.example about the boat."),
    (_MAIL, "The boat of A. Karlsson was sold."),
    (_MAIL, "She is Annika.Karlsson [at] fjord [dot] example, it says."),
    (_MAIL, "Sent from annika.karlsson+boats@fjord.example today."),
    # dates, in numbers alone as either of two
    (_BORN, "Born May 4th, 1971, she sailed."),
    (_BORN, "Born 05/04/1971, she sailed."),
    (_BORN, "Born 04.05.1971, she sailed."),
    (_BORN, "The birthdate is 19710504, it says."),
    (_BORN, "Born 4-V-1971, she sailed."),
    (_BORN, "Born 4 May\n1971, she sailed."),
    ("She was born on 14 May 1971.", "Born 05/14/1971, she sailed."),
    # telephones, accounts, plates
    ("Call 415-555-0134 today.", "Her number is +1 (415) 555 0134 ext. 9."),
    ("Call +44 20 7946 0958 today.", "Her number is (020) 7946\n0958, she says."),
    ("Call +44 20 7946 0958 today.", "Reach her: tel:+442079460958."),
    ("Pay to DE89370400440532013000.", "Use DE89 3704 0044 0532 0130 00, she says."),
    ("The car KX21 ABD was hers.", "They saw KX21ABD near the quay."),
    ("Policy no. HX-4471-802 is hers.", "Her policy HX 4471802 ended."),
]
OTHERS = [
    (_NAME, "The boat of Piotr Okonkwo was sold."),
    (_NAME, "The boat of Annika Lindgren was sold."),
    ("Rosa Lake owns the red boat.", "The boat was on a lake."),
    (_MAIL, "Write to piotr.okonkwo@fjord.example about it."),
    ("Write to info@fjord.example now.", "Write to info@quay.example about it."),
    (_BORN, "Born 05/06/1971, she sailed."),
    ("Call +44 20 7946 0958 today.", "Her number is (020) 7946-0959, she says."),
    ("Pay to DE89370400440532013000.", "Use DE12 5001 0517 0648 4898 90, she says."),
]


@each_row("first, second", [*AGAIN, *OTHERS])
def test_a_fact_is_known_again_however_it_is_written(first, second):
    """Two documents are linked by one person, and by nothing that others share."""
    ask = shows({"linkage": {"edge_threshold": 0.3}}, action="decline", max_risk=0.3)
    ask(Passage("a", first, document_id="a"))

    _, limits = ask(Passage("b", second, document_id="b"))

    assert bool(limits) == ((first, second) in AGAIN)


def test_what_only_the_register_knows_goes_too():
    """Of a passage that is made coarse nothing is left that was known again."""
    ask = shows({"linkage": {"edge_threshold": 0.3}}, max_risk=0.3)
    ask(Passage("a", _NAME, document_id="a"))

    released, _ = ask(Passage("b", "The scan is karlsson_boat.pdf.", document_id="b"))

    assert released[0].text == "The scan is [withheld]_boat.pdf."


@each_row(
    "role, forms",
    [
        ("date", ["4 May 2021", "04/05/2021", "05/04/2021", "May 4th"]),
        ("number", ["MRN 44-718-02", "4471802"]),
        ("phone", ["+1 (415) 555-0134", "415.555.0134"]),
        ("age", ["aged 56", "56-year-old"]),
        ("place", ["Port Lubin", "PORT  LUBIN"]),
        ("exact", ["Ada+boats@quay.example", "ada@quay.example"]),
    ],
)
def test_ways_to_write_a_value_have_one_in_common(role, forms):
    assert set.intersection(*(set(canonical(form, role)) for form in forms))


def test_a_weekday_or_a_month_tells_no_date():
    assert not any(canonical(form, "date") for form in ("Sunday", "November"))
