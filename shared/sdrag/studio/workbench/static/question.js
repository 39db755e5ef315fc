// What a hijacked model would receive for a question, plain and wrapped.

import { ask } from "/api.js";
import { byId, el, newest } from "/dom.js";
import { rolesOf, viewed } from "/state.js";

const answers = byId("answers");

const put = newest(async (question) => {
  answers.setAttribute("aria-busy", "true");
  try {
    const roles = rolesOf(byId("roles-1").value);
    const found = await ask("/api/ask", { ...viewed(), question, roles });
    answers.replaceChildren(
      column("Plain: all of it can be given away", found.plain, []),
      column("Wrapped with sdrag", found.wrapped, found.decisions),
    );
  } catch (error) {
    answers.replaceChildren(el("p", { className: "bad" }, error.message));
  } finally {
    answers.setAttribute("aria-busy", "false");
  }
});

function column(title, passages, decisions) {
  const texts = passages.map((one) =>
    el("div", { className: "passage" }, el("div", { className: "soft" }, one.id), el("div", { className: "marked" }, one.text)),
  );
  const none = passages.length ? null : el("p", { className: "soft" }, "Nothing.");
  return el("article", { className: "view", "aria-label": title }, el("h3", {}, title), none, ...texts, decided(decisions));
}

function decided(decisions) {
  const rows = decisions
    .filter((one) => one.action !== "released" || one.spans)
    .map((one) => {
      const what = one.spans ? `${one.action}, ${one.spans} spans` : one.action;
      const why = one.means || one.constraints.join(", ") || one.reason;
      return el("li", {}, `${one.subject}: ${what}. ${why}`);
    });
  return rows.length ? el("details", {}, el("summary", {}, "What was decided"), el("ul", {}, ...rows)) : null;
}

byId("question-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = byId("question").value.trim();
  if (question) put(question);
});
