"""Mails and workbooks: what is read of them, and what is left out and counted."""

from __future__ import annotations

import io
from datetime import date
from email.message import EmailMessage
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment

from sdrag.studio.documents import UnreadableError, read_bytes


def mail(**parts: Any) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Rosa Lind <rosa@example.org>"
    message["To"] = "desk@example.org"
    message["Subject"] = "Keys"
    message["X-Mailer"] = "Reader 3"
    message.set_content(parts.get("text", "The key is with Zoë.\n"))
    if html := parts.get("html"):
        message.add_alternative(html, subtype="html")
    return message


def workbook() -> Workbook:
    book = Workbook()
    sheet = book.active
    sheet.title = "Staff"
    sheet.append(["Name", "Staff no.", "Since", "Pay"])
    sheet.append(["Rosa Lind", 60317.0, date(2024, 5, 11), "=1+1"])
    sheet.append(["Petra Kolb", 60318, None, None])
    sheet.row_dimensions[3].hidden = True
    sheet["A1"].comment = Comment("old list", "desk")
    return book


def saved(book: Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_of_a_mail_heads_and_text_are_read_and_the_rest_is_counted():
    """Attachments, other heads and the text's second form are named."""
    message = mail(html="<p>The key is with Zoë.</p>")
    message.add_attachment(b"\1\2", maintype="application", subtype="pdf", filename="a")
    message.add_attachment(b"\1", maintype="image", subtype="png", filename="b.png")
    message.add_attachment(mail(text="An older mail.\n"))

    read = read_bytes("a.eml", message.as_bytes())

    assert read.documents[0].text == (
        "From: Rosa Lind <rosa@example.org>\nTo: desk@example.org\nSubject: Keys\n"
        "\nThe key is with Zoë."
    )
    (remark,) = read.remarks
    assert "attachments (1)" in remark
    assert "pictures (1)" in remark
    assert "attached mails (1)" in remark
    assert "HTML versions of the text (1)" in remark
    assert "other heads (" in remark


def test_a_mail_of_html_alone_is_read_as_a_page():
    """Its tags are no text."""
    message = EmailMessage()
    message["Subject"] = "Keys"
    message.set_content("<p>With <b>Zoë</b>.</p><script>x</script>", subtype="html")

    read = read_bytes("a.eml", message.as_bytes())

    assert read.documents[0].text == "Subject: Keys\n\nWith Zoë."
    assert "scripts (1)" in read.remarks[0]


def test_of_a_workbook_visible_cells_are_read_and_the_rest_is_counted():
    """Hidden rows, columns and sheets, comments and formulas are named."""
    book = workbook()
    book.create_sheet("Old").append(["Name", "Kolb"])
    book["Old"].sheet_state = "hidden"
    book["Staff"].column_dimensions["D"].hidden = True

    read = read_bytes("a.xlsx", saved(book))

    (document,) = read.documents
    assert document.id == "a.xlsx"
    assert document.text == "Name: Rosa Lind\nStaff no.: 60317\nSince: 2024-05-11"
    remark = read.remarks[-1]
    for left in ("hidden rows (1)", "hidden columns (1)", "hidden sheets (1)"):
        assert left in remark
    assert "comments (1)" in remark
    assert "formulas without a value (1)" in remark


def test_each_sheet_is_a_document_and_its_rows_are_where_asked():
    """Sheets are named as the workbook names them."""
    book = workbook()
    book.create_sheet("Keys").append(["Key", "Room"])
    book["Keys"].append(["K-1", 214])

    sheets = read_bytes("a.xlsx", saved(book)).documents
    rows = read_bytes("a.xlsx", saved(book), rows=True).documents

    assert [each.id for each in sheets] == ["a.xlsx#Staff", "a.xlsx#Keys"]
    assert "Key: K-1\nRoom: 214" in [each.text for each in rows]


def test_a_table_of_tabs_keeps_commas_in_its_cells():
    """No other mark separates the cells of a `.tsv`."""
    read = read_bytes("a.tsv", b"name,first\tno\nLind, Rosa\t60317\n")

    assert read.documents[0].text == "name,first: Lind, Rosa\nno: 60317"


@pytest.mark.parametrize("name", ["a.xlsx", "a.eml"])
def test_what_is_no_such_file_is_refused_without_its_words(name):
    """The reason quotes nothing."""
    with pytest.raises(UnreadableError, match="is no") as caught:
        read_bytes(name, b"\nsecret words")

    assert "secret" not in str(caught.value)
