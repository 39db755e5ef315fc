// The editor, what is wrong with the policy, and what each constraint is understood as.

import { ask } from "/api.js";
import { byId, debounced, el, newest, say } from "/dom.js";
import { legendMark, state, tell } from "/state.js";

const editor = byId("editor");
const slider = byId("sensitivity");
const SENSITIVITIES = ["low", "balanced", "high"]; // as the slider counts them

const describe = newest(async () => {
  const text = state.policy;
  state.described = await ask("/api/policy", { policy: text });
  if (text !== state.policy) return; // something newer follows
  show();
  tell("policy");
});

const describeSoon = debounced(describe, 350);

export function begin(text) {
  editor.disabled = false;
  state.opened = text;
  setText(text);
}

/** Edit the policy by a sentence of it, or by words; the server lays out the text. */
export async function change(body) {
  try {
    const { policy, note } = await ask("/api/edit", { policy: state.policy, ...body });
    await setText(policy);
    say(note);
    return true;
  } catch (error) {
    say(error.message);
    return false;
  }
}

function setText(text) {
  editor.value = text;
  state.policy = text;
  number();
  return describe();
}

function number() {
  const count = editor.value.split("\n").length;
  const wrong = new Set((state.described?.problems ?? []).map((one) => one.line));
  byId("numbers").replaceChildren(
    ...Array.from({ length: count }, (_, index) =>
      el("span", { className: wrong.has(index + 1) ? "wrong" : "" }, String(index + 1)),
    ),
  );
}

function goTo(line) {
  const lines = editor.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  editor.focus();
  editor.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  editor.scrollTop = Math.max(0, (line - 3) * parseFloat(getComputedStyle(editor).lineHeight));
}

function show() {
  const { problems, problem_count: count, constraints, settings } = state.described;
  number();
  byId("policy-state").textContent = count
    ? `${count} ${count === 1 ? "problem" : "problems"}. The documents keep the colours of the last policy that could be read.`
    : `A valid policy of ${state.described.constraint_count} constraints.`;
  byId("policy-state").className = count ? "bad" : "good";
  byId("problems").replaceChildren(...problems.map(problem));
  if (!count) {
    state.order = constraints.map((one) => one.id);
    byId("understood").replaceChildren(...constraints.map(constraint));
    byId("disabled").replaceChildren(...state.described.disabled.map(switchedOff));
    byId("settings").replaceChildren(...settings.map((line) => el("li", {}, line)));
    byId("roles").replaceChildren(
      ...state.described.roles.map((role) => el("option", { value: role })),
    );
  }
  showSensitivity();
}

function problem({ line, message }) {
  if (!line) return el("li", {}, message);
  const link = el("button", { type: "button", className: "link" }, message);
  link.addEventListener("click", () => goTo(line));
  return el("li", {}, link);
}

function constraint(one, number, all) {
  const go = el("button", { type: "button", className: "link" }, one.text);
  go.addEventListener("click", () => {
    byId("yaml").open = true;
    if (one.line) goTo(one.line);
  });
  const edit = (body) => change({ constraint: number, ...body });
  const tools = [
    tool("↑", `Move ${one.id} up`, number > 0, () => edit({ change: "move", step: -1 })),
    tool("↓", `Move ${one.id} down`, number < all.length - 1, () => edit({ change: "move", step: 1 })),
    tool("Off", `Switch ${one.id} off`, true, () => edit({ change: "disable" })),
  ];
  const parts = [
    el("span", { className: "tools" }, weight(one, edit), ...tools),
    legendMark(one.id, one.id),
    " ",
    go,
    ...[...one.effects, ...one.limits].map((line) => el("div", { className: "soft" }, line)),
    ...one.warnings.map((line) => el("div", { className: "warning" }, line)),
  ];
  return el("li", { className: one.status }, ...parts);
}

/** Choose how much one sentence hides; what that changes in the documents is said. */
function weight(one, edit) {
  const label = `Sensitivity of ${one.id}`;
  const select = el("select", { "aria-label": label, title: label });
  for (const [value, shown] of [["", "as all"], ...SENSITIVITIES.map((s) => [s, s])]) {
    select.append(el("option", { value, selected: value === (one.weight ?? "") }, shown));
  }
  select.addEventListener("change", () => edit({ change: "weigh", weight: select.value || null }));
  return select;
}

function switchedOff({ line, text }) {
  const on = tool("On", `Switch on: ${text}`, true, () => change({ change: "enable", constraint: line }));
  return el("li", {}, el("span", { className: "tools" }, on), el("s", { className: "soft" }, text));
}

function tool(text, label, usable, work) {
  const made = el("button", { type: "button", "aria-label": label, title: label, disabled: !usable }, text);
  made.addEventListener("click", work);
  return made;
}

function showSensitivity() {
  const own = state.described?.sensitivity;
  const moved = state.sensitivity !== null && state.sensitivity !== own;
  if (!moved && own) slider.value = String(SENSITIVITIES.indexOf(own));
  byId("sensitivity-value").textContent = SENSITIVITIES[slider.value];
  byId("sensitivity-note").textContent = moved
    ? `The policy says ${own ?? "nothing that can be read"}. To keep this one, write under disclosure: sensitivity: ${SENSITIVITIES[slider.value]}.`
    : "A higher one hides more; a lower one leaves more to read.";
}

const moved = debounced(() => tell("sensitivity"), 250);

byId("add-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const sentence = byId("sentence").value.trim();
  if (sentence && (await change({ change: "add", sentence }))) byId("sentence").value = "";
});
editor.addEventListener("input", () => {
  say("");
  state.policy = editor.value;
  number();
  describeSoon();
});
editor.addEventListener("scroll", () => {
  byId("numbers").scrollTop = editor.scrollTop;
});
slider.addEventListener("input", () => {
  state.sensitivity = SENSITIVITIES[slider.value];
  showSensitivity();
  moved();
});
