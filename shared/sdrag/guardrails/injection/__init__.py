"""
The injection scan: text from the store that talks to the model instead of the reader.

`disguises` reads through encodings, `patterns` knows phrases, `classifier` reads
windows of sentences with a trained head, `scan` puts them together for a text and the
passages of a request, and `screen` decides what becomes of a passage.
"""

from sdrag.guardrails.injection.scan import Scan, Suspicion, scan_passages, scan_text
from sdrag.guardrails.injection.screen import screen

__all__ = ["Scan", "Suspicion", "scan_passages", "scan_text", "screen"]
