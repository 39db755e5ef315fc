"""Presidio's analyzer finds what its recognizers know, next to the local detector."""

import spacy
from llama_index.core.schema import NodeWithScore, TextNode
from presidio_analyzer import (
    AnalyzerEngine,
    Pattern,
    PatternRecognizer,
    RecognizerRegistry,
)
from presidio_analyzer.nlp_engine import SpacyNlpEngine

from llamaindex_sdrag import SelectiveDisclosurePostprocessor
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

postprocessor = SelectiveDisclosurePostprocessor(
    policy={"constraints": ["Remove all codes"]},
    options=Options(detector=PresidioDetector(analyzer, types={"BERTH": "CODE"})),
)
notes = [TextNode(text="The crates went to quay kestrel pier.", id_="note")]
released = postprocessor.postprocess_nodes(
    [NodeWithScore(node=note) for note in notes], query_str="Where did they go?"
)

print(released[0].node.get_content())
