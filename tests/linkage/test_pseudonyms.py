"""A pseudonym is given, or refused for a reason that is said; never by chance."""

from __future__ import annotations

import re

import pytest

from sdrag.linkage import Fitted, fit
from sdrag.linkage.replacing import Masker
from sdrag.studio.reports.linkage import render_linkage
from sdrag.vocabulary import Entity, Passage

from ..support.tables import each_row

KEY = b"sixteen bytes or more"
RULES = {"resolution": {"meaning": False, "terms": False}, "replace": "pseudonym"}
TOLD = {**RULES, "max_document_risk": 0.05}
"""Everything is masked for what it tells in its document."""
LINKED = {
    **RULES,
    "max_document_risk": 0.999,
    "max_chain_risk": 0.1,
    "edge_threshold": 0.2,
}
"""What is masked is masked for what it links."""
ROUND = [str(number) for number in range(1, 41)] + ["a", "f", "cafe", "seven"]
"""Masked too, in other documents: short forms that chance may spell."""


def fitted(forms, type_, section):
    """Fit on a note for each form, and on one for each of what is masked around."""
    rows = [[form, "", type_, 1.0] for form in forms]
    rows += [[form, "", "EVENT", 1.0] for form in ROUND]
    notes = [Passage(f"n{n}", f"We saw {row[0]}.") for n, row in enumerate(rows)]
    return fit(notes, section, [[row] for row in rows], key=KEY)


def seen(plan, count):
    """Return what stands in place of a form in the first notes, without brackets."""
    texts = [document.text for document in plan.masked.documents[:count]]
    return [text.removeprefix("We saw [").removesuffix("].") for text in texts]


@each_row(
    "type_, forms, section",
    [
        ("NAME", ["Marie Dupond"] * 3, TOLD),
        ("NAME", ["Dr. Elise Varga", "Varga, E.", "E. Varga"], TOLD),
        ("NAME", ["J\u00fcrgen M\u00fcller", "Juergen Mueller"], TOLD),
        ("NAME", ["Annika&#32;Lind", "Annika&#32;Lind"], TOLD),
        ("NAME", ["Wick"] * 2, {**TOLD, "select": "document"}),
        ("NAME", ["Pell"] * 5, {**TOLD, "select": "greedy"}),
        ("PHONE_NUMBER", ["+1 (415) 555-0134", "415.555.0134"], TOLD),
        ("EMAIL", ["ada@quay.example"] * 2, TOLD),
        ("PATIENT_ID", ["MRN 44-718-02", "4471802"], TOLD),
        ("PATIENT_ID", ["DE89 3704 0044 0532 0130 00"] * 2, TOLD),
        ("ADDRESS", ["14 Quay Street, Hull"] * 2, TOLD),
        ("BIRTHDATE", ["4 May 1961", "04/05/1961"], TOLD),
        ("EVENT_DATE", ["3 June 2021"] * 2, TOLD),
        ("MEDICAL_CONDITION", ["porphyria"] * 2, TOLD),
        ("TREATMENT", ["hemin 250 mg"] * 2, TOLD),
        ("PROVIDER", ["Riverside Clinic"] * 2, TOLD),
        ("LOCATION", ["Port Lubin"] * 2, TOLD),
        ("NON_PERSONAL_ID", ["KX21 ABD"] * 2, TOLD),
        ("UNIQUE_FACT", ["the last lamplighter of Hull"] * 2, TOLD),
        ("NAME", ["Marie Dupond"], LINKED | {"max_document_risk": 0.5}),
        ("LOCATION", ["Port Lubin"] * 2, {**TOLD, "max_chain_risk": 1}),
    ],
)
def test_what_is_masked_for_what_it_tells_has_one_in_all_documents(
    type_, forms, section
):
    """Whatever else is masked: digits of chance spell no number that is."""
    plan = fitted(forms, type_, section)

    (one,) = set(seen(plan, len(forms)))
    assert re.fullmatch(rf"{type_}_[0-9a-f]{{16}}", one)
    assert not plan.masked.masker.refused
    assert plan.masked.links_kept == len(plan.masked.plan.before)


@each_row(
    "type_, forms, section",
    [
        ("NAME", ["Marie Dupond"] * 3, LINKED),
        ("LOCATION", ["Port Lubin"] * 2, LINKED),
        ("PHONE_NUMBER", ["+1 (415) 555-0134", "415.555.0134"], LINKED),
        ("BIRTHDATE", ["4 May 1961", "04/05/1961"], {**LINKED, "select": "greedy"}),
        ("PROVIDER", ["Riverside Clinic"] * 4, LINKED),
    ],
)
def test_what_is_masked_for_what_it_links_has_none(type_, forms, section, tmp_path):
    """Numbers join no two documents; the plan says why, and a later one keeps to it."""
    plan = fitted(forms, type_, section)
    plan.save(tmp_path / "plan")
    again = Fitted.open(tmp_path / "plan", KEY)
    later = again.updated([Passage("z", "We saw nobody.")], entities=[[]]).fitted

    for each in (plan, again, later):
        masked = each.masked
        assert len(set(seen(each, len(forms)))) == len(forms)
        assert all(re.fullmatch(rf"{type_}-\d{{8}}", s) for s in seen(each, len(forms)))
        assert [*masked.masker.refused.values()] == ["keeps-chain"]
        assert masked.links_kept == len(masked.plan.after) == 0
        assert "1 were masked to break a chain" in render_linkage(masked)


@pytest.mark.parametrize("form", ["[redacted]", "name"])
def test_a_pseudonym_that_would_spell_what_is_masked(form):
    """It goes without its type, and only where that is masked too it is refused."""
    plain = Entity("2", "X", ("[REDACTED]",))
    masker = Masker((Entity("1", "NAME", (form,)), plain), "pseudonym", KEY)

    text = masker.replace(f"We saw {form}.").text

    assert form not in text.lower()
    assert not masker.refused


def test_what_only_looks_like_a_pseudonym_is_searched():
    """An author's brackets hide nothing."""
    number = "4929123412341234"
    masker = Masker((Entity("1", "PATIENT_ID", (number,)),), "pseudonym", KEY)

    assert number not in masker.replace(f"We saw [NAME_{number}].").text
