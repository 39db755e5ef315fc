"""
Cells: a text read as what it is.

`read_cells` cuts a text into cells with offsets, each with its role and the label that
says what it is: JSON, JSON lines, YAML, XML and HTML, rows with any separator, tables
of Markdown, fixed columns, `key: value` and `KEY=value`, logs, chats, transcripts,
heads of mail, queries of URLs, literals of source code. `plain_view` writes the same as
lines of `label: value`, with the way back; `clip` keeps a span within cells, and
`place` writes placeholders so that a parser still reads the text.
"""

from sdrag.text.cells.cell import Cell, Layout
from sdrag.text.cells.reading import read_cells
from sdrag.text.cells.speech import SPEAKER
from sdrag.text.cells.view import PlainView, label_words, plain_view, write_lead
from sdrag.text.cells.writing import Edit, apply_edits, clip, place

__all__ = [
    "SPEAKER",
    "Cell",
    "Edit",
    "Layout",
    "PlainView",
    "apply_edits",
    "clip",
    "label_words",
    "place",
    "plain_view",
    "read_cells",
    "write_lead",
]
