"""
Presidio and llm-guard, as they are compared with.

llm-guard pins other versions of torch and transformers, so it cannot be installed next
to this package. Its published patterns are one file without dependencies: the wheel is
fetched without them, and that file alone is read. Where no index can be reached, its
line is left out.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["analyzer", "anonymizer", "batches", "llm_guard_patterns", "patterns"]

Span = tuple[int, int]
Finder = Callable[[str], list[Span]]
LLM_GUARD = "0.3.16"
_FILE = "llm_guard/input_scanners/anonymize_helpers/regex_patterns.py"


@lru_cache(maxsize=1)
def _registry() -> Any:
    import tldextract  # noqa: PLC0415 -- before Presidio uses it
    from presidio_analyzer import RecognizerRegistry  # noqa: PLC0415 -- as above

    # It would ask the network for its list of domains: take the packaged one.
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    return registry


def patterns() -> Finder:
    """Return Presidio's recognizers that need no model: the quickest it can be."""
    from presidio_analyzer import PatternRecognizer  # noqa: PLC0415 -- takes seconds
    from presidio_analyzer.predefined_recognizers import (  # noqa: PLC0415 -- as above
        PhoneRecognizer,
    )

    plain = (PatternRecognizer, PhoneRecognizer)
    recognizers = [one for one in _registry().recognizers if isinstance(one, plain)]

    def find(text: str) -> list[Span]:
        return [
            (result.start, result.end)
            for recognizer in recognizers
            for result in recognizer.analyze(text, recognizer.supported_entities)
        ]

    return find


def analyzer() -> Any:
    """Return Presidio's analyzer with a tokenizer in place of a language model."""
    import spacy  # noqa: PLC0415 -- takes seconds
    from presidio_analyzer import AnalyzerEngine  # noqa: PLC0415 -- as above
    from presidio_analyzer.nlp_engine import SpacyNlpEngine  # noqa: PLC0415 -- as above

    engine = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
    engine.nlp = {"en": spacy.blank("en")}
    return AnalyzerEngine(registry=_registry(), nlp_engine=engine)


def anonymizer(found_by: Any) -> Callable[[str], str]:
    """Return Presidio's way from text to text."""
    from presidio_anonymizer import AnonymizerEngine  # noqa: PLC0415 -- takes seconds

    engine = AnonymizerEngine()

    def anonymize(text: str) -> str:
        found = found_by.analyze(text, language="en")
        replaced: str = engine.anonymize(text, found).text
        return replaced

    return anonymize


def batches(found_by: Any) -> Callable[[Sequence[str]], list[str]]:
    """Return Presidio's way from many texts to as many."""
    from presidio_analyzer import BatchAnalyzerEngine  # noqa: PLC0415 -- takes seconds
    from presidio_anonymizer import BatchAnonymizerEngine  # noqa: PLC0415 -- as above

    finder, anonymizer_engine = BatchAnalyzerEngine(found_by), BatchAnonymizerEngine()

    def anonymize(texts: Sequence[str]) -> list[str]:
        found = finder.analyze_iterator(texts, language="en", batch_size=16)
        return list(anonymizer_engine.anonymize_list(list(texts), found))

    return anonymize


def llm_guard_patterns() -> tuple[str, Finder | None]:
    """Return llm-guard's own patterns for English; None where it cannot be fetched."""
    with tempfile.TemporaryDirectory() as folder:
        fetched = subprocess.run(  # noqa: S603 -- this interpreter's own pip
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
                *("--target", folder, f"llm-guard=={LLM_GUARD}"),
            ],
            check=False,
            capture_output=True,
        )
        if fetched.returncode:
            return LLM_GUARD, None
        source = Path(folder, _FILE).read_text("utf-8")
    compiled = [
        re.compile(expression)
        for group in _assigned(source, "DEFAULT_REGEX_PATTERNS")
        if "en" in group["languages"]
        for expression in group.get("expressions", ())
    ]

    def find(text: str) -> list[Span]:
        return [match.span() for one in compiled for match in one.finditer(text)]

    return LLM_GUARD, find


def _assigned(source: str, name: str) -> Any:
    """Return what a module assigns to a name, without running the module."""
    for line in ast.parse(source).body:
        if isinstance(line, ast.AnnAssign) and getattr(line.target, "id", "") == name:
            return ast.literal_eval(line.value or ast.Constant(None))
    raise LookupError(f"{name} is not there any more.")
