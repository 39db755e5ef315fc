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
      found.by_document.length ? null : el("p", { className: "soft" }, "No two documents are linked."),
      ...found.by_document.map(documentOf),
    ].filter(Boolean),
  );
}

/** One document: what links it to others, and what masking takes out of it. */
function documentOf(one) {
  const masked = one.masked.map((entity) => [entity.type.toLowerCase().replaceAll("_", " "), entity.forms.join(", ")]);
  const left = one.left.length ? `still linked with ${one.left.join(", ")}` : "linked with none";
  return el("article", { className: "view" },
    el("h3", {}, one.document),
    el("p", {}, `Linked with ${one.linked.join(", ")}. After masking: ${left}. Risk ${one.before} → ${one.after}.`),
    table(`What masking takes out of ${one.document}`, ["Type", "Forms"], masked),
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
