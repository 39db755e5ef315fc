"""
The trained scorer: how surely does a constraint withhold each word of a text?

Late interaction: the packaged MiniLM reads a text once for all constraints, and each
constraint once. Its upper layers and a small head were trained for it (what SD-RAG,
section V, leaves as fine-tuned redaction), and only their weights come with the
package. Without the extra `local` there is no scorer: the logger `sdrag` says so, and
what must be understood rests on the model. A missing file of weights is an error.
Texts, training script and limits: benchmarks/scorer/.
"""

from __future__ import annotations

from sdrag.disclosure.local.scorer.scores import Scores, available, score

__all__ = ["Scores", "available", "score"]
