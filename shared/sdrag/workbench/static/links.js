// What links the documents, and what masking would break.

import { ask } from "/api.js";
import { byId, el, newest } from "/dom.js";
import { state } from "/state.js";

const place = byId("links");

const find = newest(async () => {
  place.setAttribute("aria-busy", "true");
  place.replaceChildren(el("p", { className: "soft" }, "Looking for what links the documents…"));
  try {
    show(await ask("/api/link", { policy: state.policy }));
  } catch (error) {
    place.replaceChildren(el("p", { className: "bad" }, error.message));
  } finally {
    place.setAttribute("aria-busy", "false");
  }
});

function show(found) {
  const figures = [
    [found.documents, "documents"],
    [`${found.links_before} → ${found.links_after}`, "links"],
    [`${found.masked} of ${found.entities}`, "entities masked"],
  ];
  const unread = found.unread
    ? el("p", { className: "warning" }, `${found.unread} documents could not be read, and would be withheld.`)
    : null;
  place.replaceChildren(
    ...[
      el("div", { className: "cards" }, ...figures.map(([value, name]) => el("div", { className: "card" }, el("b", {}, String(value)), name))),
      unread,
      table("What masking takes out", ["Type", "Forms", "In documents"],
        found.broken.map((one) => [one.type, one.forms.join(", "), one.documents])),
      table("Chains of documents", ["Documents", "Risk before", "after"],
        found.chains.map((one) => [one.documents.join(" – "), one.before, one.after])),
    ].filter(Boolean),
  );
}

function table(title, heads, rows) {
  if (!rows.length) return null;
  return el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": title },
    el("table", {},
      el("caption", {}, title),
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", { className: typeof cell === "number" ? "n" : "" }, String(cell)))))),
    ),
  );
}

byId("find-links").addEventListener("click", find);
