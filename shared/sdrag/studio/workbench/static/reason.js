// Why a stretch is hidden.

import { byId, el } from "/dom.js";
import { change } from "/policy.js";
import { legendMark, on, state } from "/state.js";

const panel = byId("reason");

export function explainSpan(over, mark) {
  document.querySelector("mark.chosen")?.classList.remove("chosen");
  mark.classList.add("chosen");
  panel.hidden = false;
  const hidden = over.filter((span) => span.hidden);
  const words = [...new Set(hidden.map((span) => span.text))].sort((a, b) => a.length - b.length);
  byId("why").replaceChildren(...over.map(why), ...words.slice(0, 1).map(stayButton));
}

function why(span) {
  const heading = el(
    "p",
    {},
    legendMark(span.constraint, span.constraint, span.hidden),
    ` ${span.words}`,
    el("span", { className: "soft" }, span.hidden ? " hides it" : " considered it, and shows it"),
  );
  const causes = span.causes.map((cause) => el("li", {}, cause));
  return el("div", { className: "cause" }, heading, el("ul", {}, ...causes));
}

/** A button that lets the words stay, under every sentence that hides them. */
function stayButton(words) {
  const stay = el("button", { type: "button" }, `Let \u201c${words.length > 40 ? `${words.slice(0, 40)}…` : words}\u201d stay`);
  stay.addEventListener("click", async () => {
    stay.disabled = true;
    if (await change({ change: "stay", document: state.shown, words })) close();
    stay.disabled = false;
  });
  return stay;
}

function close() {
  panel.hidden = true;
  const mark = document.querySelector("mark.chosen");
  mark?.classList.remove("chosen");
  mark?.focus();
}

byId("close-reason").addEventListener("click", close);
on("policy", () => { panel.hidden = true; });
document.addEventListener("keydown", (event) => event.key === "Escape" && !panel.hidden && close());
