"""
Mails in files: the heads that people read, and the text.

The standard library parses them. Of a text that is there twice, plain and as HTML, the
plain one is read. Attachments are not, and are counted with what else is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from sdrag.studio.documents.formats import Record, Remarks, UnreadableError, parsing
from sdrag.studio.documents.rich_text import read_html

_HEADS = ("From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date", "Subject")
"""What is read of the head, in this order."""
_KINDS = {"audio": "recordings", "image": "pictures", "video": "recordings"}
_MOST_PARTS = 1_000


def read_eml(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read a mail: its heads, an empty line, and its text."""
    with parsing("mail"):
        parser = BytesParser(_class=EmailMessage, policy=policy.default)
        message = parser.parsebytes(data)
        if not message.keys():
            raise UnreadableError("is no mail: it has no head")
        heads = [
            f"{name}: {' '.join(str(value).split())}"
            for name in _HEADS
            for value in message.get_all(name, ())
        ]
        known = {name.lower() for name in _HEADS}
        others = sum(name.lower() not in known for name in message)
        remarks.unread["other heads"] += others
        texts = list(_texts(message, remarks))
    yield Record("\n".join([*heads, "", *texts]).strip())


def _texts(message: EmailMessage, remarks: Remarks) -> Iterator[str]:
    """Yield the texts of a mail, and count the parts that are none."""
    parts = list(message.walk())
    if len(parts) > _MOST_PARTS:
        raise UnreadableError(f"has more than {_MOST_PARTS:,} parts")
    body = message.get_body(("plain", "html"))
    inner: set[int] = set()
    for part in parts:
        kind = part.get_content_type()
        if id(part) in inner:
            continue
        if kind == "message/rfc822":
            inner.update(map(id, part.walk()))
            remarks.unread["attached mails"] += 1
        elif part.is_multipart():
            pass
        elif part.is_attachment() or part.get_filename():
            remarks.unread[_KINDS.get(part.get_content_maintype(), "attachments")] += 1
        elif part is body or kind == "text/plain":
            yield _text_of(part, remarks)
        elif kind == "text/html":
            remarks.unread["HTML versions of the text"] += 1
        else:
            noun = _KINDS.get(part.get_content_maintype(), "parts that are no text")
            remarks.unread[noun] += 1


def _text_of(part: EmailMessage, remarks: Remarks) -> str:
    """Return the text of a part, whatever it is encoded as."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    if part.get_content_type() == "text/html":
        inner = Remarks(Counter(), [])
        text = "\n".join(
            record.text for record in read_html(_as_utf8(part, data), inner)
        )
        remarks.unread.update(inner.unread)
        return text
    return _as_utf8(part, data).decode().replace("\r\n", "\n").strip()


def _as_utf8(part: EmailMessage, data: bytes) -> bytes:
    """Decode by what the part says of itself; what cannot be decoded is marked."""
    try:
        text = data.decode(part.get_content_charset("utf-8"), "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    return text.encode("utf-8", "replace")
