"""
What is fuzzed: for each target, a function of bytes that raises if a promise broke.

An error that the function documents is no fault. Each target says in its docstring what
must hold.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import suppress

import yaml
from atheris import FuzzedDataProvider

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.model.replies import read_answers, read_verdicts
from sdrag.errors import SdragError
from sdrag.guardrails.statements.claims import claims
from sdrag.guardrails.statements.quantities import read_quantities
from sdrag.guardrails.statements.words import read_tokens
from sdrag.highlight.verification import verify_highlights
from sdrag.studio.authoring.policy_text import add, disable, find_disabled, read_policy
from sdrag.studio.documents.reading import READERS, UnreadableError, read_bytes
from sdrag.text.cells import apply_edits, clip, place, plain_view, read_cells
from sdrag.text.decoding import decode
from sdrag.text.folding import fold
from sdrag.text.spans import SpanUnion, merge, splice, subtract
from sdrag.vocabulary import Constraint, Passage, Span

_LONGEST = 2_000
"""Characters of an input: what is longer teaches a fuzzer nothing more."""


def _draw_text(data: FuzzedDataProvider) -> str:
    return str(data.ConsumeUnicodeNoSurrogates(_LONGEST))


def _draw_spans(data: FuzzedDataProvider, length: int) -> Iterator[Span]:
    for _ in range(data.ConsumeIntInRange(0, 6)):
        start = data.ConsumeIntInRange(0, max(0, length - 1))
        if start < length:
            yield Span(start, data.ConsumeIntInRange(start + 1, length))


def fuzz_policy(given: bytes) -> None:
    """A policy is read or refused; an edited one reads as what it was, and more."""
    text = _draw_text(FuzzedDataProvider(given))
    with suppress(SdragError):
        policy = read_policy(text)
        longer = read_policy(add(text, "Hide names"))
        assert len(longer.constraints) == len(policy.constraints) + 1
        if policy.constraints:
            off = disable(text, 0)
            assert len(find_disabled(off)) >= 1


def fuzz_constraint(given: bytes) -> None:
    """Any sentence is understood, or it is said why not."""
    text = _draw_text(FuzzedDataProvider(given))
    parsed = parse(Constraint("-", text.strip() or "-"))
    assert parsed.status == "understood" or parsed.reason


def fuzz_documents(given: bytes) -> None:
    """Any bytes are documents of a format, or unreadable."""
    data = FuzzedDataProvider(given)
    suffix = data.PickValueInList(sorted(READERS))
    rows = data.ConsumeBool()
    with suppress(UnreadableError):
        read = read_bytes(f"a{suffix}", data.ConsumeBytes(_LONGEST), rows=rows)
        names = [document.id for document in read.documents]
        assert len({*names}) == len(names)


def fuzz_cells(given: bytes) -> None:
    """Cells are apart and in order; what is found in their lines is inside of them."""
    text = _draw_text(FuzzedDataProvider(given))
    layout = read_cells(text)
    done = 0
    for cell in layout.cells:
        assert done <= cell.start < cell.end <= len(text)
        done = cell.end
    if view := plain_view(layout):
        for there, origin in view.origins(Span(0, max(1, len(view.text)))):
            assert there.end <= len(view.text)
            assert origin.end <= len(text)


def fuzz_structures(given: bytes) -> None:
    """JSON, YAML and CSV in which any value went are read, and have their shape."""
    data = FuzzedDataProvider(given)
    value = {"n": 1, "of": _draw_value(data, 0)}
    kind = data.ConsumeIntInRange(0, 3)
    if kind == 0:
        _check_shape(
            json.dumps(value, indent=data.PickValueInList([None, 2])), json.loads
        )
    elif kind == 1:
        _check_shape(json.dumps(value, ensure_ascii=False), json.loads)
    elif kind == 2:
        style = data.PickValueInList([None, False, True])
        written = yaml.safe_dump(value, default_flow_style=style)
        _check_shape(written, yaml.safe_load)
    else:
        # A cell of several lines with half of a bracket in it is read wrong: a gap.
        rows = [
            [str(_draw_leaf(data)).replace("\n", " ") for _ in range(3)]
            for _ in range(4)
        ]
        out, separator = io.StringIO(), data.PickValueInList([",", ";"])
        csv.writer(out, delimiter=separator).writerows([["n", "mail", "note"], *rows])
        _check_shape(
            out.getvalue(),
            lambda text: [*csv.reader(io.StringIO(text), delimiter=separator)],
        )


def _draw_value(data: FuzzedDataProvider, depth: int) -> object:
    kind = data.ConsumeIntInRange(0, 5 if depth < 3 else 3)
    if kind == 4:
        return [
            _draw_value(data, depth + 1) for _ in range(data.ConsumeIntInRange(0, 3))
        ]
    if kind == 5:
        keys = [f"key{number}" for number in range(data.ConsumeIntInRange(0, 3))]
        return {key: _draw_value(data, depth + 1) for key in keys}
    return _draw_leaf(data)


def _draw_leaf(data: FuzzedDataProvider) -> object:
    kind = data.ConsumeIntInRange(0, 3)
    if kind == 0:
        return data.PickValueInList([None, True, 0, -1.5, 412])
    if kind == 1:
        return "rosa " * data.ConsumeIntInRange(1, 40)
    said = str(data.ConsumeUnicodeNoSurrogates(30))
    return "".join(c for c in said if c.isprintable() or c in "\n\t")


def _check_shape(text: str, read: Callable[[str], object]) -> None:
    layout = read_cells(text)
    if not layout.is_hard:
        return
    values = [cell.span for cell in layout.cells if cell.role in {"field", "value"}]
    spans = [part for span in values for part in clip(layout, span, lambda _: False)]
    left = apply_edits(text, place(layout, dict.fromkeys(spans, "[name]")))
    assert _shape_of(read(left)) == _shape_of(read(text))


def _shape_of(value: object) -> object:
    if isinstance(value, dict):
        return {key: _shape_of(inner) for key, inner in value.items()}
    return [*map(_shape_of, value)] if isinstance(value, list) else None


def fuzz_spans(given: bytes) -> None:
    """Unions, differences and replacements of spans are those of their characters."""
    data = FuzzedDataProvider(given)
    length = data.ConsumeIntInRange(1, 60)
    spans, others = [*_draw_spans(data, length)], [*_draw_spans(data, length)]
    text = "".join(chr(33 + at) for at in range(length))

    def covered(some: list[Span]) -> set[int]:
        return {at for span in some for at in range(span.start, span.end)}

    assert covered([*merge(spans)]) == covered(spans)
    union = SpanUnion(others)
    for span in spans:
        left = [*subtract(span, merge(others))]
        assert covered(left) == covered([span]) - covered(others)
        assert union.contains(span) == (covered([span]) <= covered(others))
        assert union.overlaps(span) == bool(covered([span]) & covered(others))
    released = splice(text, merge(spans), lambda _: " ")
    assert {*released} - {" "} == {text[at] for at in {*range(length)} - covered(spans)}


def fuzz_folding(given: bytes) -> None:
    """What is found in a folded or decoded text is somewhere in the text."""
    data = FuzzedDataProvider(given)
    text = _draw_text(data)
    for there in (fold(text), decode(text)):
        for span in _draw_spans(data, len(there.text)):
            origin = there.span(span.start, span.end)
            assert 0 <= origin.start < origin.end <= len(text)


def fuzz_quotations(given: bytes) -> None:
    """What a highlighter says is there is verbatim of a passage, or refused."""
    data = FuzzedDataProvider(given)
    passages = [Passage(name, _draw_text(data)) for name in "ab"]
    count = data.ConsumeIntInRange(0, 4)
    extracts = [str(data.ConsumeUnicodeNoSurrogates(80)) for _ in range(count)]
    texts = {passage.id: passage.text for passage in passages}
    words = data.ConsumeIntInRange(1, 3)
    verified = verify_highlights(extracts, passages, min_words=words)
    for highlight in verified.highlights:
        span = highlight.span
        assert texts[highlight.passage_id][span.start : span.end] == highlight.text


def fuzz_claims(given: bytes) -> None:
    """Claims and quantities of an answer are inside of it."""
    text = _draw_text(FuzzedDataProvider(given))
    for claim in claims(text):
        assert claim.text.strip()
    read_quantities(read_tokens([text]))


def fuzz_replies(given: bytes) -> None:
    """A reply names only what was asked."""
    text = _draw_text(FuzzedDataProvider(given))
    assert {*read_verdicts(text, ["a", "b"])} <= {"a", "b"}
    freed = read_answers(text, {"1": ["a"], "2": ["a", "b"]})
    assert freed.get("1", frozenset()) <= {"a"}
    assert freed.get("2", frozenset()) <= {"a", "b"}


TARGETS: dict[str, Callable[[bytes], None]] = {
    name.removeprefix("fuzz_"): function
    for name, function in sorted(globals().items())
    if name.startswith("fuzz_")
}
