// The editor, what is wrong with the policy, and what each constraint is understood as.

import { ask } from "/api.js";
import { byId, debounced, el, newest, say } from "/dom.js";
import { legendMark, on, state, tell } from "/state.js";

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
  setText(text);
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

function constraint(one) {
  const name = legendMark(one.id, one.id);
  const go = el("button", { type: "button", className: "link" }, one.text);
  go.addEventListener("click", () => one.line && goTo(one.line));
  const parts = [name, " ", go, el("div", { className: "soft" }, `${one.understood}; ${one.limits.join(", ")}`)];
  if (one.warning) parts.push(el("div", { className: "warning" }, one.warning));
  return el("li", { className: one.status }, ...parts);
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

editor.addEventListener("input", () => {
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
on("policy", () => say(""));
