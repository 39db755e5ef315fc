// Why a stretch is hidden, and examples: words that must go or must stay.

import { ask } from "/api.js";
import { byId, el, newest, percent, say } from "/dom.js";
import { colourOf, on, readable, state, viewed } from "/state.js";

const panel = byId("reason");
let chosen = null; // {document, quote, start}

export function explainSpan(over, mark, number) {
  document.querySelector("mark.chosen")?.classList.remove("chosen");
  mark.classList.add("chosen");
  // The widest of what is hidden is what was meant, where several lie on one another.
  const [first] = [...over].sort((a, b) => b.hidden - a.hidden || b.text.length - a.text.length);
  open(number, first.text, first.start, first.constraint);
  byId("why").replaceChildren(...over.map(why));
}

/** Offer the words that are selected in a document as an example. */
export function offerWords(number, text) {
  const selection = getSelection();
  if (selection.isCollapsed || !text.contains(selection.anchorNode)) return;
  const words = selection.toString().trim();
  if (!words) return;
  const range = selection.getRangeAt(0);
  const piece = range.startContainer.parentElement?.closest("[data-start]");
  const before = range.startContainer.textContent.slice(0, range.startOffset);
  const start = piece ? Number(piece.dataset.start) + Array.from(before).length : null;
  open(number, words, start, byId("pin-constraint").value);
  byId("why").replaceChildren(el("p", {}, "You selected these words."));
}

function open(number, words, start, constraint) {
  chosen = { document: number, quote: words, start };
  byId("pinned").textContent = "";
  byId("pin-words").value = words;
  byId("pin-constraint").value = constraint;
  panel.hidden = false;
}

function why(span) {
  const heading = el(
    "p",
    {},
    el("mark", { className: `${span.hidden ? "hidden" : "left"} ${colourOf(span.constraint)}` }, span.constraint),
    ` ${span.words}`,
    el("span", { className: "soft" }, span.hidden ? " hides it" : " considered it, and shows it"),
  );
  const causes = span.causes.map((cause) =>
    el(
      "li",
      {},
      cause.why,
      " ",
      el("meter", { min: 0, max: 1, value: cause.confidence, "aria-label": "How sure" }),
      el("span", { className: "soft" }, ` ${percent(cause.confidence)} sure`),
    ),
  );
  return el("div", { className: "cause" }, heading, el("ul", {}, ...causes));
}

function listConstraints() {
  if (!readable()) return;
  const before = byId("pin-constraint").value;
  byId("pin-constraint").replaceChildren(
    ...state.described.constraints.map((one) => el("option", { value: one.id }, one.id)),
  );
  if (before) byId("pin-constraint").value = before;
}

byId("pin-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const words = byId("pin-words").value.trim();
  if (!chosen || !words) return;
  const start = words === chosen.quote.trim() ? chosen.start : null;
  try {
    const pin = await ask("/api/pin", {
      policy: state.policy,
      document: chosen.document,
      constraint: byId("pin-constraint").value,
      quote: words,
      start,
      kind: event.submitter.value,
    });
    const { seconds, ...made } = pin;
    state.pins.push(made);
    byId("pinned").textContent = `Example ${state.pins.length} pinned`;
    say("");
    run();
  } catch (error) {
    say(error.message);
  }
});

function close() {
  panel.hidden = true;
  const mark = document.querySelector("mark.chosen");
  mark?.classList.remove("chosen");
  mark?.focus();
}

const run = newest(async () => {
  const pins = [...state.pins];
  list(pins.map(() => null));
  if (!pins.length || !readable()) return;
  const { outcomes } = await ask("/api/run", { ...viewed(), pins });
  if (pins.length !== state.pins.length) return;
  list(outcomes);
  const last = outcomes.at(-1);
  const pinned = byId("pinned");
  if (pinned.textContent) pinned.textContent = `Example ${pins.length} pinned: ${last.holds ? "✓ holds" : `✗ ${last.why}`}`;
});

function list(outcomes) {
  byId("no-pins").hidden = state.pins.length > 0;
  byId("save-pins").hidden = !state.pins.length;
  byId("pins").replaceChildren(...state.pins.map((pin, index) => row(pin, index, outcomes[index])));
}

function row(pin, index, outcome) {
  const verb = pin.kind === "hides" ? "must go" : "must stay";
  const remove = el("button", { type: "button", className: "link", "aria-label": `Remove the example ${index + 1}` }, "remove");
  remove.addEventListener("click", () => {
    state.pins.splice(index, 1);
    run();
  });
  const held = outcome === null || outcome === undefined ? "…" : outcome.holds ? "✓ holds" : `✗ ${outcome.why}`;
  const kind = outcome ? (outcome.holds ? "good" : "bad") : "soft";
  return el(
    "li",
    { title: pin.text },
    el("mark", { className: `hidden ${colourOf(pin.constraint)}` }, pin.constraint),
    " ",
    el("q", {}, pin.quote),
    ` ${verb} `,
    el("span", { className: kind }, held),
    " ",
    remove,
  );
}

byId("close-reason").addEventListener("click", close);
panel.addEventListener("keydown", (event) => event.key === "Escape" && close());
byId("save-pins").addEventListener("click", () => {
  if (!state.examplesName) {
    say("Start the workbench with a policy file: examples are written next to it.");
    return;
  }
  byId("save-name").textContent = state.examplesName;
  byId("save-dialog").returnValue = "";
  byId("save-dialog").showModal();
});
byId("save-dialog").addEventListener("close", async () => {
  if (byId("save-dialog").returnValue !== "save") return;
  try {
    const saved = await ask("/api/save", { policy: state.policy, pins: state.pins, warned: true });
    say(`Wrote ${saved.examples} examples to ${saved.file}. Run them with: sdrag check`);
  } catch (error) {
    say(error.message);
  }
});
on("policy", () => {
  listConstraints();
  run();
});
on("sensitivity", run);
