// Why a stretch is hidden.

import { byId, el, say } from "/dom.js";
import { change } from "/policy.js";
import { legendMark, state } from "/state.js";

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
    legendMark(span.constraint, span.constraint, span.hidden),
    ` ${span.words}`,
    el("span", { className: "soft" }, span.hidden ? " hides it" : " considered it, and shows it"),
  );
  const causes = span.causes.map((cause) => el("li", {}, cause));
  const stay = el("button", { type: "button" }, "Must stay");
  stay.addEventListener("click", async () => {
    const body = { change: "stay", constraint: state.order.indexOf(span.constraint), words: span.text };
    if (await change("/api/edit", body)) say(`\u201c${span.text}\u201d stays under ${span.constraint}: its keep says so.`);
    close();
  });
  return el("div", { className: "cause" }, heading, el("ul", {}, ...causes), span.hidden ? stay : null);
}

function close() {
  panel.hidden = true;
  const mark = document.querySelector("mark.chosen");
  mark?.classList.remove("chosen");
  mark?.focus();
}

byId("close-reason").addEventListener("click", close);
document.addEventListener("keydown", (event) => event.key === "Escape" && !panel.hidden && close());
