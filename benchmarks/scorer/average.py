"""
Average the weights of several runs: the mean holds better on texts that none has seen.

    python benchmarks/scorer/average.py OUT IN IN ...
"""

from __future__ import annotations

import sys

import torch
from safetensors.torch import load_file, save_file


def main() -> None:
    """Read the files and write their mean."""
    out, *paths = sys.argv[1:]
    runs = [load_file(path) for path in paths]
    mean = {
        name: torch.stack([run[name].float() for run in runs]).mean(0).half()
        for name in runs[0]
    }
    save_file(mean, out)


if __name__ == "__main__":
    main()
