"""Reading the file, and remembering on which line each key stands."""

from __future__ import annotations

from pathlib import Path

import yaml

from sdrag.errors import PolicyError

__all__ = ["MAX_POLICY_BYTES", "nearest", "note_lines", "text_of"]

MAX_POLICY_BYTES = 4_000_000


def text_of(path: Path) -> str:
    """
    Return what stands in the file.

    Raises:
        PolicyError: It is no readable text of a policy's size.
    """
    try:
        if path.stat().st_size > MAX_POLICY_BYTES:
            raise PolicyError("The file is too large for a policy.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PolicyError(
            f"The policy file cannot be read ({type(error).__name__}).",
            hint="Give the path of a YAML file, or a mapping.",
        ) from None
    except UnicodeDecodeError:
        raise PolicyError("The policy file is not UTF-8.") from None


def note_lines(
    node: yaml.Node | None,
    place: tuple[str | int, ...],
    lines: dict[tuple[str | int, ...], int],
) -> None:
    """Remember on which line each key stands; refuse a key that stands twice."""
    if node is None:
        return
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*place, str(key.value))
            if inner in lines:
                raise PolicyError(
                    "The key stands twice.",
                    line=key.start_mark.line + 1,
                    key=".".join(str(part) for part in inner),
                )
            lines[inner] = key.start_mark.line + 1
            note_lines(value, inner, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            note_lines(value, (*place, index), lines)


def nearest(
    lines: dict[tuple[str | int, ...], int], place: tuple[str | int, ...]
) -> int | None:
    """Return the line of the key at `place`, or of the closest one above it."""
    while place:
        if place in lines:
            return lines[place]
        place = place[:-1]
    return lines.get(())
