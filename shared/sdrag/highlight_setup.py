"""
What both adapters of Highlight & Summarize share: reading their arguments.

Other packages may have worked on the passages. Their marks are no text of the corpus: a
placeholder of disclosure control counts for no word, and a notice of the guardrails is
never highlighted.
"""

from __future__ import annotations

from sdrag.effects.prompts import Label
from sdrag.effects.runner import Limits
from sdrag.errors import UsageError
from sdrag.guardrails.notices import sources
from sdrag.highlight.exchange import Asked, Highlighter, Settings
from sdrag.highlight.highlighters import highlighter_named
from sdrag.policy import Policy
from sdrag.requirements import check_local_highlighter
from sdrag.vocabulary import Passage

__all__ = ["asked_of", "settings_of"]


def settings_of(
    policy: Policy,
    highlighter: Highlighter | str | None,
    *,
    has_model: bool,
    limits: Limits | None = None,
) -> Settings:
    """
    Read the arguments of an adapter.

    Args:
        policy: Its `highlight` section and its placeholders are used.
        highlighter: A highlighter, the name of one of the package's, or nothing:
            `structured` with a model, `local` without.
        has_model: Whether a model was passed.
        limits: The bounds of the texts that are read.

    Raises:
        UsageError: The highlighter needs a model and there is none.
        MissingExtraError: The local one needs the extra `local`.
    """
    chosen = highlighter or ("structured" if has_model else "local")
    if chosen == "local":
        check_local_highlighter()
    if isinstance(chosen, str):
        if chosen != "local" and not has_model:
            raise UsageError(f"The highlighter {chosen!r} needs `llm=`.")
        chosen = highlighter_named(chosen)
    return Settings(
        chosen,
        policy.highlight,
        has_model=has_model,
        withheld=policy.disclosure.marks,
        limits=limits or Limits(),
    )


def asked_of(
    question: str, passages: tuple[Passage, ...], policy: Policy, *, redacted: bool
) -> Asked:
    """
    Label what is asked.

    Args:
        question: The asker's words.
        passages: The host's ranking, best first; notices among them are left out.
        policy: Where it has constraints, passages are sensitive until redacted.
        redacted: The host says that the passages went through disclosure control.
    """
    is_clean = redacted or not policy.constraints
    return Asked(
        question, sources(passages), Label.NONE if is_clean else Label.SENSITIVE
    )
