"""What a masker of either framework needs before it works."""

from __future__ import annotations

from sdrag.errors import UsageError
from sdrag.linkage.fitting import Fitted
from sdrag.linkage.replacing import check_style
from sdrag.policy import LinkageSection

__all__ = ["check_replaceable", "check_whole", "planned"]


def check_replaceable(
    fitted: Fitted | None,
    settings: LinkageSection,
    key: bytes | None,
    *,
    has_model: bool,
) -> None:
    """
    See that a masker has what it takes to replace as its plan says, else its policy.

    Raises:
        UsageError: Pseudonyms were asked for without a key, or a rewriting without a
            model.
    """
    if fitted is None:
        check_style(settings.replace, key)
    replace = (settings if fitted is None else fitted.settings).replace
    if replace == "rewrite" and not has_model:
        raise UsageError(
            "`linkage.replace: rewrite` needs a model.", hint="Pass `llm=`."
        )


def planned(fitted: Fitted | None) -> Fitted:
    """
    Return the plan of a masker.

    Raises:
        UsageError: It has none.
    """
    if fitted is None:
        raise UsageError(
            "Only a masker with a plan can follow a change.",
            hint="Pass `fitted=`: what `fit` returned, or `Fitted.open`.",
        )
    return fitted


def check_whole(fitted: Fitted | None, *, whole_corpus: bool) -> None:
    """
    See that a masker knows the whole corpus: it has a plan, or is given all of it.

    Raises:
        UsageError: It was given neither, or both.
    """
    if (fitted is None) != whole_corpus:
        raise UsageError(
            "A part of a corpus does not show what links people across it.",
            hint="Pass `fitted=`, or `whole_corpus=True` and all of it at once.",
        )
