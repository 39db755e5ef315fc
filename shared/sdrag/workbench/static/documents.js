// The documents: adding them, and showing one in colour to one or two audiences.

import { ask, send } from "/api.js";
import { byId, debounced, el, newest, percent, say } from "/dom.js";
import { legendMark, look, on, readable, rolesOf, state, tell, viewed } from "/state.js";
import { explainSpan } from "/reason.js";

const views = byId("views");
const shown = byId("shown");
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
      made.push(view(await ask("/api/explain", body), roles));
    }
    views.className = made.length > 1 ? "two" : "";
    views.replaceChildren(...made);
  } catch (error) {
    views.replaceChildren(el("p", { className: "bad" }, error.message));
  } finally {
    views.setAttribute("aria-busy", "false");
  }
});

function view(found, roles) {
  const who = roles.length ? roles.join(", ") : "anybody";
  const title = `${found.name}, seen by ${who}`;
  const refused = Object.entries(found.refused).map(([name, why]) =>
    el("p", { className: "warning" }, `${name} is not enforced here: ${why}`),
  );
  const withheld = found.withheld ? `, ${found.withheld} chunks withheld` : "";
  const text = el("div", { className: "marked document", lang: "" });
  for (const chunk of found.chunks) {
    const place = chunk.withheld ? el("div", { className: "withheld" }) : text;
    if (chunk.withheld) {
      place.append(el("span", { className: "badge" }, `withheld: ${chunk.reason}`), el("br"));
      text.append(place);
    }
    for (const piece of chunk.pieces) {
      place.append(stretch(piece, found.spans));
    }
  }
  roving(text);
  return el(
    "article",
    { className: "view", "aria-label": title },
    el("h3", {}, title),
    el("p", { className: "soft" }, `${percent(found.hidden_share)} hidden${withheld}`),
    legend(found.counts),
    ...refused,
    text,
  );
}

function legend(counts) {
  const items = Object.entries(counts).filter(([, count]) => count.spans);
  return el(
    "p",
    { className: "legend" },
    ...items.flatMap(([name, count]) => [
      legendMark(name, `${name} ${count.words}`),
      " ",
    ]),
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
on("policy", show);
on("sensitivity", show);
