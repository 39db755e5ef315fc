// The graph of documents, and what masking would break.

import { ask } from "/api.js";
import { byId, el, newest, svg } from "/dom.js";
import { state } from "/state.js";

const place = byId("links");
const NAMED = 60; // more names than these would lie on one another

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
      graph(found.graph),
      table("What masking takes out", ["Type", "Forms", "In documents", "Because of"],
        found.broken.map((one) => [one.type, one.forms.join(", "), one.documents, one.for])),
      table("Chains of documents", ["Documents", "Category", "Risk before", "after"],
        found.chains.map((one) => [one.documents.join(" – "), one.category, one.before, one.after])),
      table("Risk of each document", ["Document", "before", "after"],
        found.risks.map((one) => [one.name, one.before, one.after])),
    ].filter(Boolean),
  );
}

function graph(drawn) {
  if (!drawn.nodes.length) return el("p", { className: "soft" }, "No two documents are linked.");
  const lines = drawn.lines.map((line) =>
    svg("line", {
      class: line.kept ? "kept" : "gone",
      x1: line.from[0], y1: line.from[1], x2: line.to[0], y2: line.to[1],
      "stroke-width": line.width,
    }),
  );
  const named = drawn.nodes.length <= NAMED;
  const dots = drawn.nodes.flatMap((node) => {
    const title = svg("title");
    title.textContent = node.name;
    const dot = svg("circle", { cx: node.x, cy: node.y, r: 5 }, title);
    if (!named) return [dot];
    const text = svg("text", { x: node.x, y: node.y + 18 });
    text.textContent = node.name.length > 24 ? `${node.name.slice(0, 23)}…` : node.name;
    return [dot, text];
  });
  const label = `Graph of ${drawn.nodes.length} linked documents; the tables below say the same`;
  return svg("svg", { class: "graph", width: drawn.width, height: drawn.height, viewBox: `0 0 ${drawn.width} ${drawn.height}`, role: "img", "aria-label": label }, ...lines, ...dots);
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
