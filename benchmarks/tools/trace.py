"""
Prints the road of a passage: what a question enters from the hook to what leaves.

    python benchmarks/tools/trace.py            # the files, and who turns back to which
    python benchmarks/tools/trace.py --all      # every function of the core, in order

Text that was bound is asked for through the hook of LangChain, by an application that
has been asked before: what is made once for all questions is made. A function counts
where it is first entered, as a reader opens it once.

The *road* is the core without its tools: the files of the layers from the hook down to
the four systems, by the contract of import-linter in `pyproject.toml`. What lies below
knows no question, and is listed as tools. A file stands above those that the road
enters after it. A *climb* is a file that calls one above it: the reader turns back to a
file that was left. A *return* is a file that goes on, in another of its functions, once
what it called has ended.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from langchain_core.documents import Document

from langchain_sdrag import ConstraintBinder, SelectiveDisclosureCompressor

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "shared" / "sdrag"
LAST_LAYER = "disclosure"
POLICY = {
    "constraints": [
        "Remove the names of people",
        {"text": "Remove sums of money", "unless": {"roles": "auditor"}},
        "Do not reveal anything about people's health",
    ],
    "metadata": {"allow": ["title"]},
}
TEXTS = (
    "Ruth Calder was paid 4,000 euros. The crates were wet.",
    "Calder has been treated for migraine since May. A van left early.",
)


def main(*, every: bool) -> None:
    """Trace one question, and print what it entered."""
    calls = trace_question()
    road = [call for call in calls if is_of_the_road(call[1])]
    files = list(dict.fromkeys(file for _, file, _ in road))
    tools = {file for _, file, _ in calls}.difference(files)
    for _, file, name in calls if every else ():
        print(f"{file}: {name}")
    print("The road, in the order in which it is entered:")
    for file in files:
        print(f"  {file}: {sum(file == other for _, other, _ in road)} functions")
    print("Climbs:")
    climbs = find_climbs(road, files)
    for caller, file in climbs:
        print(f"  {caller} calls {file}")
    print(f"Tools: {', '.join(sorted(tools))}")
    stays = sum(one[1] != next_[1] for one, next_ in pairwise(road)) + 1
    print(
        f"{len(calls)} functions of {len(files) + len(tools)} files; the road:"
        f" {len(road)} functions of {len(files)} files, {len(climbs)} climbs,"
        f" {stays - len(files)} returns"
    )


def trace_question() -> list[tuple[str, str, str]]:
    """
    Return the functions of the core that a question enters, each once, in order.

    Returns:
        The file that calls, the file that is called, and the function.
    """
    documents = [
        Document(text, id=f"c{n}", metadata={"document_id": f"d{n}", "title": "Log"})
        for n, text in enumerate(TEXTS)
    ]
    entered: dict[tuple[str, str], str] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        file = name_file(frame)
        if event == "call" and file and not code.co_name.startswith("<"):
            caller = frame.f_back
            while caller and name_file(caller) in {"", "effects/steps.py"}:
                caller = caller.f_back  # what drives steps calls for somebody else
            by = name_file(caller) if caller else ""
            entered.setdefault((file, code.co_qualname), by)

    with TemporaryDirectory() as folder:
        state = Path(folder) / "state.sqlite"
        ConstraintBinder(POLICY, state).transform_documents(documents)
        hook = SelectiveDisclosureCompressor(POLICY, state=state)
        hook.compress_documents(documents[:1], "What was wet?")
        sys.setprofile(note)
        try:
            released = hook.compress_documents(documents[1:], "Who left early?")
        finally:
            sys.setprofile(None)
    assert "Calder" not in released[0].page_content
    return [(by, file, name) for (file, name), by in entered.items()]


def name_file(frame: FrameType) -> str:
    """Return the file of a frame in the core; empty for any other."""
    path = Path(frame.f_code.co_filename)
    return path.relative_to(CORE).as_posix() if path.is_relative_to(CORE) else ""


def is_of_the_road(file: str) -> bool:
    """Say whether a file of the core is of a layer from the hook to the systems."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in contracts["tool"]["importlinter"]["contracts"]
        if contract["name"] == "The layers of the core"
    )
    parts = [[part.strip() for part in layer.split("|")] for layer in layers]
    last = next(n for n, layer in enumerate(parts) if LAST_LAYER in layer)
    module = file.split("/", maxsplit=1)[0].removesuffix(".py")
    return any(module in layer for layer in parts[: last + 1])


def find_climbs(
    road: Sequence[tuple[str, str, str]], files: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the pairs of files of which one calls another above it, each once."""
    pairs = dict.fromkeys((by, file) for by, file, _ in road if by in files)
    return [pair for pair in pairs if files.index(pair[0]) > files.index(pair[1])]


if __name__ == "__main__":
    main(every="--all" in sys.argv)
