// The documents: adding them, and showing one in colour to one or two audiences.

import { ask, send } from "/api.js";
import { byId, debounced, el, newest, percent, say } from "/dom.js";
import { legendMark, look, on, readable, rolesOf, state, tell, viewed } from "/state.js";
import { change } from "/policy.js";
import { explainSpan } from "/reason.js";

const views = byId("views");
const shown = byId("shown");
const selected = byId("selected");
let other = ""; // a policy to compare with
const AT_FIRST = 20; // files of the folder that are opened at once
let files = [];
let pasted = 0;

export async function begin(start) {
  files = start.files;
  state.documents = start.documents;
  list();
  if (files.length) await openFiles(files.splice(0, AT_FIRST));
}

async function openFiles(names) {
  for (const name of names) {
    try {
      added(name, await ask("/api/open", { path: name }));
    } catch (error) {
      say(`${name}: ${error.message}`);
    }
  }
}

async function sendFiles(chosen) {
  for (const file of chosen) {
    try {
      added(file.name, await send(file.name, file), true);
    } catch (error) {
      say(`${file.name}: ${error.message}`);
    }
  }
}

function added(file, { documents, remarks }, select = false) {
  if (remarks.length) say(`${file} ${remarks.join("; ")}`);
  const names = new Set(documents.map((one) => one.name));
  state.documents = state.documents.filter((one) => !names.has(one.name)).concat(documents);
  const gone = !state.documents.some((one) => one.number === state.shown);
  if (documents.length && (select || gone)) state.shown = documents[0].number;
  list();
  tell("documents");
  if (select || gone) show();
}

function list() {
  shown.replaceChildren(
    ...state.documents.map((one) =>
      el("option", { value: String(one.number) }, `${one.name} (${one.characters.toLocaleString("en")} characters)`),
    ),
  );
  if (state.shown !== null) shown.value = String(state.shown);
  const none = state.documents.length === 0;
  shown.disabled = none;
  byId("forget").hidden = none;
  byId("drop-hint").hidden = !none;
  const rest = byId("open-rest");
  rest.hidden = files.length === 0;
  rest.textContent = `Open ${files.length.toLocaleString("en")} more files`;
}

const show = newest(async () => {
  if (state.shown === null || !readable()) return;
  const audiences = [rolesOf(byId("roles-1").value)];
  if (byId("compare").checked) audiences.push(rolesOf(byId("roles-2").value));
  views.setAttribute("aria-busy", "true");
  if (!views.hasChildNodes()) {
    views.append(el("p", { role: "status" }, "Reading the document. The first one takes some seconds…"));
  }
  try {
    const made = [];
    for (const roles of audiences) {
      const body = { ...viewed(), document: state.shown, roles };
      if (other) made.push(changes(await ask("/api/explain", { ...body, other }), roles));
      else made.push(view(await ask("/api/explain", body), roles));
    }
    views.className = made.length > 1 ? "two" : "";
    views.replaceChildren(...made);
  } catch (error) {
    views.replaceChildren(el("p", { className: "bad" }, error.message));
  } finally {
    views.setAttribute("aria-busy", "false");
  }
});

const seenBy = (found, roles) =>
  `${found.name}, seen by ${roles.length ? roles.join(", ") : "anybody"}`;

function view(found, roles) {
  const refused = Object.entries(found.refused).map(([name, why]) => el("li", {}, `${name}: ${why}`));
  const banner = refused.length
    ? el("div", { className: "refused", role: "alert" }, el("b", {}, "Not enforced here, so not hidden below:"), el("ul", {}, ...refused))
    : null;
  const withheld = found.withheld ? `, ${found.withheld} chunks withheld` : "";
  const left = found.spans.filter((span) => !span.hidden).length;
  const kinds = Object.entries(found.readable).map(([kind, count]) => `${kind} (${count})`);
  const dotted = left ? `, ${left} more considered and shown: the dotted ones` : "";
  return article(
    seenBy(found, roles),
    `${percent(found.hidden_share)} hidden${withheld}${dotted}`,
    [banner, kinds.length ? el("p", { className: "soft" }, `Still readable: ${kinds.join(", ")}`) : null, legend(found.counts)],
    shownText(found, (piece) => stretch(piece, found.spans)),
  );
}

const CHANGES = ["newly hidden", "shown again", "hidden by both"];

/** What changes in a document between two policies. */
function changes(found, roles) {
  const look = (group) => ({ className: `${group === 1 ? "left" : "hidden"} c${group}`, "data-by": "+−="[group] });
  const legendOf = el("p", {}, ...CHANGES.flatMap((name, group) => [el("mark", look(group), `${name}: ${found.words[group]} words`), " "]));
  const mark = (piece) => (piece.spans.length ? el("mark", { ...look(piece.spans[0]), title: CHANGES[piece.spans[0]] }, piece.text) : piece.text);
  return article(`${seenBy(found, roles)}, against ${byId("against").selectedOptions[0].text}`, "", [legendOf], shownText(found, mark));
}

function article(title, lead, parts, text) {
  return el("article", { className: "view", "aria-label": title }, el("h3", {}, title), el("p", { className: "soft" }, lead), ...parts, text);
}

/** A document: its chunks one after the other, or a table with its cells. */
function shownText(found, stretchOf) {
  const text = el("div", { className: "marked document", lang: "" });
  for (const chunk of found.chunks) {
    const place = chunk.withheld ? el("div", { className: "withheld" }) : text;
    if (chunk.withheld) {
      place.append(el("span", { className: "badge" }, `withheld: ${chunk.reason}`), el("br"));
      text.append(place);
    }
    if (chunk.rows) {
      const row = (cells) => el("tr", {}, ...cells.map((pieces) => el("td", {}, ...pieces.map(stretchOf))));
      place.classList.add("scroll");
      place.append(
        el("table", {},
          el("thead", {}, el("tr", {}, ...chunk.columns.map((name) => el("th", { scope: "col" }, name)))),
          el("tbody", {}, ...chunk.rows.map(row))),
      );
    } else place.append(...chunk.pieces.map(stretchOf));
  }
  roving(text);
  return text;
}

/** The constraints by the words that they hide here, the noisiest first. */
function legend(counts) {
  const rows = Object.entries(counts).filter(([, count]) => count.spans);
  if (!rows.length) return null;
  const sentences = new Map(state.described.constraints.map((one) => [one.id, one.text]));
  const row = ([name, { words, spans }]) =>
    el("tr", {},
      el("td", {}, legendMark(name, name), ` ${sentences.get(name) ?? ""}`),
      ...[words, spans].map((count) => el("td", { className: "n" }, String(count))),
    );
  return el("table", { className: "legend" },
    el("thead", {}, el("tr", {}, ...["Constraint", "words hidden", "spans"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map(row)),
  );
}

function stretch(piece, spans) {
  const over = piece.spans.map((number) => spans[number]);
  if (!over.length) return piece.text;
  const hidden = over.filter((span) => span.hidden);
  const longest = [...(hidden.length ? hidden : over)].sort((a, b) => b.text.length - a.text.length);
  const names = [...new Set(over.map((span) => span.constraint))].join(", ");
  const mark = el("mark", {
    ...look(longest.map((span) => span.constraint), hidden.length > 0),
    role: "button",
    tabIndex: -1,
    textContent: piece.text,
    "aria-label": `${piece.text}, ${hidden.length ? "hidden by" : "considered for"} ${names}`,
    title: names,
  });
  const open = () => explainSpan(over, mark);
  mark.addEventListener("click", () => getSelection().isCollapsed && open());
  mark.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open();
    }
  });
  return mark;
}

/** One stop of the tab key for all marks of a document; the arrow keys go on from it. */
function roving(text) {
  const marks = [...text.querySelectorAll("mark")];
  if (marks.length) marks[0].tabIndex = 0;
  text.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const place = marks.indexOf(document.activeElement);
    const next = marks[place + step];
    if (!step || place < 0 || !next) return;
    event.preventDefault();
    marks[place].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

shown.addEventListener("change", () => {
  state.shown = Number(shown.value);
  show();
});
byId("forget").addEventListener("click", async () => {
  const number = state.shown;
  await ask("/api/forget", { document: number }).catch((error) => say(error.message));
  state.documents = state.documents.filter((one) => one.number !== number);
  state.shown = state.documents[0]?.number ?? null;
  list();
  views.replaceChildren();
  tell("documents");
  show();
});
byId("choose").addEventListener("change", async (event) => {
  await sendFiles(event.target.files);
  event.target.value = "";
});
byId("open-rest").addEventListener("click", () => openFiles(files.splice(0)));
byId("paste").addEventListener("click", () => {
  byId("pasted").value = "";
  byId("paste-dialog").showModal();
});
byId("paste-dialog").addEventListener("close", () => {
  const text = byId("pasted").value;
  if (byId("paste-dialog").returnValue !== "add" || !text.trim()) return;
  pasted += 1;
  sendFiles([new File([text], `pasted-${pasted}.txt`, { type: "text/plain" })]);
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dragging");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dragging");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dragging");
  sendFiles(event.dataTransfer.files);
});
const showSoon = debounced(show, 300);
byId("roles-1").addEventListener("input", showSoon);
byId("roles-2").addEventListener("input", showSoon);
byId("compare").addEventListener("change", () => {
  byId("roles-2").disabled = !byId("compare").checked;
  show();
});
byId("against").addEventListener("change", (event) => {
  if (event.target.value === "file") return byId("other-file").click();
  other = event.target.value ? state.opened : "";
  show();
});
byId("other-file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  other = await file.text();
  byId("against").lastElementChild.textContent = file.name;
  show();
});
document.addEventListener("selectionchange", () => {
  const chosen = getSelection();
  if (selected.contains(document.activeElement)) return;
  const words = chosen.toString().trim();
  const inside = chosen.anchorNode && views.contains(chosen.anchorNode) && words && words.length <= 200;
  selected.hidden = !inside;
  if (!inside) return;
  byId("selected-words").textContent = words;
});
byId("must-go").addEventListener("click", async () => {
  const words = byId("selected-words").textContent;
  if (await change({ change: "go", document: state.shown, words })) selected.hidden = true;
});
on("policy", show);
on("sensitivity", show);
