"""
The injection scan: text from the store that talks to the model instead of the reader.

`normalise` undoes disguises, `patterns` knows phrases, `classifier` reads windows of
sentences with a trained head, `scan` puts them together for one text, and `screen`
decides what becomes of a passage.
"""

from sdrag.guardrails.injection.screen import screen
from sdrag.guardrails.injection.text_scan import Scan, Suspicion, scan

__all__ = ["Scan", "Suspicion", "scan", "screen"]
