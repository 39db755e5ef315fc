"""Why an answer was changed or declined, and why disclosure control failed."""

from __future__ import annotations

from sdrag.reasons.reason import LOOK_AT_MODEL, NOTHING_TO_DO, Reason

__all__ = ["ANSWERED", "FAILED", "HIGHLIGHTED"]

_CITED = "Ask the model for citations in the format of `citations.format`."
_JUDGE = "Look at the judge, or set `method: local` in the section."
_REPORT = "Nothing was released. Please report it."

ANSWERED = {
    "checked": Reason("The answer passed every check.", "Nothing."),
    "malformed": Reason(
        "The answer, or its citations, cannot be read.",
        "Look at the model; citations as data are a list of mappings.",
    ),
    "reappeared": Reason(
        "The answer held what redaction had withheld; it was cut out.",
        "Nothing. The model may know it from elsewhere.",
    ),
    "unchecked": Reason("A check could not be made.", _JUDGE),
    "unsupported": Reason(
        "No passage supports a claim of the answer.",
        "Retrieve more, or lower `grounding.threshold`.",
    ),
    "too-many-claims": Reason(
        "The answer has more claims than `grounding.max_claims`.",
        "Ask for shorter answers, or raise the limit.",
    ),
    "nothing-left": Reason(
        "Nothing was left of the answer once it was checked.", "Retrieve more."
    ),
    "indicators": Reason(
        "The answer holds links, addresses or calls to action.",
        "Allow known domains with `monitoring.allow_domains`.",
    ),
    **{
        f"{kind}:{origin}": Reason(
            f"The answer holds {said} that {whence}.",
            "Read the passages. Known domains go into `monitoring.allow_domains`.",
        )
        for kind, said in (
            ("links", "links"),
            ("emails", "e-mail addresses"),
            ("calls", "calls to action"),
        )
        for origin, whence in (
            ("passage", "a passage brought in"),
            ("unknown", "neither passage nor question has"),
        )
    },
    "presence": Reason("A claim has no citation.", _CITED),
    "validity": Reason("A claim cites what was not retrieved.", _CITED),
    "accuracy": Reason("A cited passage does not support its claim.", _CITED),
    "completeness": Reason("A passage on the claim is not cited.", _CITED),
    **{
        f"{check}-unchecked": Reason(f"The {check} of citations is unknown.", _JUDGE)
        for check in ("presence", "validity", "accuracy", "completeness")
    },
}
HIGHLIGHTED = {
    "nothing-highlighted": Reason(
        "Nothing that answers the question was found in the passages.",
        "Retrieve more, or lower `highlight.threshold` with care.",
    ),
    "highlighter-failed": Reason("The highlighter failed.", LOOK_AT_MODEL),
    "summarizer-failed": Reason("The summarizer failed.", LOOK_AT_MODEL),
    "empty-answer": Reason("The summarizer answered nothing.", LOOK_AT_MODEL),
    "diverged": Reason(
        "The answer seems to answer another question.",
        "Lower `highlight.min_similarity`, or set `on_divergence: answer`.",
    ),
    "too-few-words": Reason(
        "An extract has fewer words than `highlight.min_words`.",
        "Nothing, or lower it.",
    ),
    "not-found": Reason("An extract is not in the passages.", "Nothing."),
    "cuts-a-word": Reason("An extract begins or ends inside a word.", "Nothing."),
    "cuts-a-sentence": Reason("An extract is no whole sentence.", "Nothing."),
    "spans-passages": Reason("An extract runs over two passages.", "Nothing."),
    "repeated": Reason("An extract was given twice.", "Nothing."),
    "too-many": Reason("More extracts were given than are read.", "Nothing."),
}
FAILED = {
    "failed-missingextra": Reason(
        "A package is missing, so nothing could be judged.",
        'Run: pip install "sdrag[local]"',
    ),
    "failed-host": Reason(
        "The host's embeddings or the state failed.",
        "Look at what was passed as `embeddings=` and `state=`.",
    ),
    "failed-model": Reason("The model or its provider failed.", LOOK_AT_MODEL),
    "failed-modeltimeout": Reason("The model did not answer in time.", LOOK_AT_MODEL),
    "failed-modelreply": Reason("The model's reply cannot be read.", LOOK_AT_MODEL),
    "failed-policy": Reason(
        "The policy does not mean anything.", "Run `sdrag check` on it."
    ),
    "failed-constraintnotunderstood": Reason(
        "A constraint is not understood without a model.", "Run `sdrag check`."
    ),
    "failed-usage": Reason(
        "The wrapper was set up in a way that cannot work.",
        "Pass what it needs, such as `embeddings=` or `llm=`.",
    ),
    "failed-inputtoolarge": Reason(
        "The texts are over a limit.", "Split documents smaller."
    ),
    "failed-promptsanitization": Reason(
        "A plug-in built a prompt that must not be.", "Mend the plug-in."
    ),
    "failed-locallimit": Reason(
        "Local work took longer than the limits of the request allow.",
        "Set other limits: `Limits(local_seconds=...)`.",
    ),
    "failed-withheld": Reason("Everything was withheld.", NOTHING_TO_DO),
    "failed-internal": Reason("A promise of ours was about to be broken.", _REPORT),
    "failed-sdrag": Reason("Disclosure control failed.", _REPORT),
}
