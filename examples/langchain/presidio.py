"""Presidio's analyzer finds what its recognizers know, next to the local detector."""

import spacy
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from presidio_analyzer import (
    AnalyzerEngine,
    Pattern,
    PatternRecognizer,
    RecognizerRegistry,
)
from presidio_analyzer.nlp_engine import SpacyNlpEngine

from langchain_sdrag import SelectiveDisclosureRetriever
from sdrag import Options
from sdrag.detectors.models import PresidioDetector

# The host's own engine. This one has no language model, so nothing is downloaded.
nlp_engine = SpacyNlpEngine()
nlp_engine.nlp = {"en": spacy.blank("en")}
berths = PatternRecognizer(
    "BERTH", patterns=[Pattern("berth", r"\bquay [a-z]+ pier\b", 0.9)]
)
analyzer = AnalyzerEngine(
    registry=RecognizerRegistry(recognizers=[berths]), nlp_engine=nlp_engine
)

notes = [Document("The crates went to quay kestrel pier.", id="note")]
retriever = SelectiveDisclosureRetriever(
    base_retriever=RunnableLambda(lambda _: notes),
    policy={"constraints": ["Remove all codes"]},
    options=Options(detector=PresidioDetector(analyzer, types={"BERTH": "CODE"})),
)

print(retriever.invoke("Where did the crates go?")[0].page_content)
