// Why a stretch is hidden.

import { byId, el, percent } from "/dom.js";
import { colourOf } from "/state.js";

const panel = byId("reason");

export function explainSpan(over, mark) {
  document.querySelector("mark.chosen")?.classList.remove("chosen");
  mark.classList.add("chosen");
  panel.hidden = false;
  byId("why").replaceChildren(...over.map(why));
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

function close() {
  panel.hidden = true;
  const mark = document.querySelector("mark.chosen");
  mark?.classList.remove("chosen");
  mark?.focus();
}

byId("close-reason").addEventListener("click", close);
document.addEventListener("keydown", (event) => event.key === "Escape" && !panel.hidden && close());
