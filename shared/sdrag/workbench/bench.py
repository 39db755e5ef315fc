"""
What a workbench looks at, and what it does for its page: a method for each request.

Nothing is written to a disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdrag.policy import Policy
from sdrag.vocabulary import Confidential, Passage
from sdrag.workbench.asking import Questions
from sdrag.workbench.colouring import Colouring
from sdrag.workbench.folder import Folder
from sdrag.workbench.linking import linked
from sdrag.workbench.loaded import LoadedDocuments
from sdrag.workbench.refusals import RefusedError
from sdrag.workbench.requests import (
    Asking,
    Explaining,
    Forgetting,
    Opening,
    Reporting,
    Typed,
    Viewing,
)
from sdrag.workbench.typed_policy import described, policy_of, with_sensitivity

__all__ = ["SAMPLE", "Workbench"]

SAMPLE = "constraints:\n  - Remove names of witnesses\n"
"""What the editor shows where no policy was given."""


class Workbench(Confidential):
    """
    What one workbench looks at, and does for its page.

    Args:
        policy_file: Whose text the editor starts with.
        policy_text: That text, right or wrong.
        folder: Of documents that may be opened.
    """

    def __init__(
        self,
        policy_file: Path | None = None,
        policy_text: str = SAMPLE,
        folder: Folder | None = None,
    ) -> None:
        self.policy_file = policy_file
        self.policy_text = policy_text
        self.folder = folder
        self.documents = LoadedDocuments()
        self.colouring = Colouring()
        self.questions = Questions()

    def start(self) -> dict[str, Any]:
        """Return what the page begins with."""
        names, more = self.folder.names() if self.folder else ([], False)
        return {
            "policy": self.policy_text,
            "policy_name": self.policy_file.name if self.policy_file else "policy.yaml",
            "files": names,
            "more_files": more,
            "documents": _listed(self.documents.all()),
        }

    def drop(self, name: str, data: bytes) -> dict[str, Any]:
        """Load a file that was dropped or pasted."""
        return {"documents": _listed(self.documents.add(name, data, dropped=True))}

    def open(self, asked: Opening) -> dict[str, Any]:
        """Load a file of the folder."""
        if self.folder is None:
            raise RefusedError(404, "No folder was given with --documents.")
        data = self.folder.read(asked.path)
        return {
            "documents": _listed(self.documents.add(asked.path, data, dropped=False))
        }

    def forget(self, asked: Forgetting) -> dict[str, Any]:
        """Forget a document."""
        self.documents.remove(asked.document)
        return {}

    def describe(self, asked: Typed) -> dict[str, Any]:
        """Say what a policy means that is being typed."""
        return described(asked.policy)

    def set_sensitivity(self, asked: Viewing) -> dict[str, Any]:
        """Write the slider's number into the text of the policy."""
        return {"policy": with_sensitivity(asked)}

    def explain(self, asked: Explaining) -> dict[str, Any]:
        """Colour a document."""
        document = self.documents.get(asked.document)
        policy = policy_of(asked)
        return self.colouring.coloured(policy, asked.document, document, asked.roles)

    def ask(self, asked: Asking) -> dict[str, Any]:
        """Say what a hijacked model would receive."""
        documents = self.documents.all()
        policy = policy_of(asked)
        return self.questions.received(policy, documents, asked.question, asked.roles)

    def link(self, asked: Typed) -> dict[str, Any]:
        """Say what links the documents."""
        policy = policy_of(Viewing(policy=asked.policy))
        return linked(policy, list(self.documents.all().values()))

    def report(self, asked: Reporting) -> dict[str, Any]:
        """Return the page that `sdrag preview` writes."""
        documents = self.documents.all()
        if not documents:
            raise RefusedError(422, "There is no document to report on.")
        page = self.colouring.report(policy_of(asked), documents, asked.roles)
        return {"page": page}

    def warm_up(self) -> None:
        """Load the models before somebody waits for them."""
        text = "The witness Mara Whitlock left at noon."
        policy = Policy.read({"constraints": ["Remove names", "How it was opened"]})
        document = Passage("warm-up", text, document_id="warm-up")
        Colouring().explained(policy, 0, document, ())


def _listed(documents: Mapping[int, Passage]) -> list[dict[str, Any]]:
    return [
        {"number": number, "name": document.id, "characters": len(document.text)}
        for number, document in documents.items()
    ]
