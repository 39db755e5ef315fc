"""
Runs the notebooks of `examples/notebooks` and keeps their output.

    python benchmarks/tools/notebooks.py

They run from top to bottom, offline, all at the same time.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import nbformat
from nbclient import NotebookClient

__all__ = ["FOLDER", "run_all"]

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
_SECONDS = 300


def run_all(folder: Path) -> dict[str, nbformat.NotebookNode]:
    """
    Run every notebook in a folder of its own choice; a failing cell is an error.

    Args:
        folder: Where the cells run; what they write is written there.

    Returns:
        The notebooks with their output, by name.
    """
    return asyncio.run(_all(folder))


async def _all(folder: Path) -> dict[str, nbformat.NotebookNode]:
    paths = sorted(FOLDER.glob("*.ipynb"))
    notebooks = [nbformat.read(path, as_version=4) for path in paths]
    await asyncio.gather(*(_run(notebook, folder) for notebook in notebooks))
    return {path.name: one for path, one in zip(paths, notebooks, strict=True)}


async def _run(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run one notebook in place, without times and machine names."""
    client = NotebookClient(
        notebook,
        timeout=_SECONDS,
        record_timing=False,
        coalesce_streams=True,  # a stream arrives in pieces that differ from run to run
        resources={"metadata": {"path": str(folder)}},
    )
    await client.async_execute()
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        if cell.cell_type == "code":  # warnings of other packages name their folders
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]


if __name__ == "__main__":
    for name, notebook in run_all(FOLDER).items():
        nbformat.write(notebook, FOLDER / name)
