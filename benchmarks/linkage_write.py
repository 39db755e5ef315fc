"""
Write clusters with any model, in the thesis's two stages (CLAM, section 5.2).

    python benchmarks/linkage_write.py OUT --generator MODULE:NAME [--validator M:N]

MODULE:NAME is a callable from a system and a user message to a reply, or a chat model
of LangChain or LlamaIndex; the module is found on the path. What passes the checker is
written to OUT, one file a cluster.
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path

from benchmarks.linkage_experiments.generation import ClusterWriter
from benchmarks.linkage_experiments.models import Ask, ask_of


def model_of(name: str) -> Ask:
    """Import a model by `module:name`."""
    module, _, attribute = name.partition(":")
    return ask_of(getattr(import_module(module), attribute))


def main() -> None:
    """Write the clusters, and say how many were given up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--validator", help="the generator if none")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--topic", default="health insurance")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    generator = model_of(given.generator)
    validator = model_of(given.validator) if given.validator else generator
    given.out.mkdir(parents=True, exist_ok=True)
    writer = ClusterWriter(generator, validator, seed=given.seed)
    written = 0
    for cluster in writer.write(given.count, given.topic):
        path = given.out / f"cluster_{written}.json"
        path.write_text(json.dumps(cluster, indent=1, ensure_ascii=False), "utf-8")
        written += 1
    print(f"{written} clusters written, {given.count - written} given up")


if __name__ == "__main__":
    main()
