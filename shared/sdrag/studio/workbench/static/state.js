// What the parts of the page share. Whoever changes something tells the others.

import { el } from "/dom.js";

export const state = {
  policy: "", // the text in the editor
  policyName: "policy.yaml",
  opened: "", // the text as the page was opened
  described: null, // what the server said of the policy
  order: [], // the constraints of the last policy that could be read, by their ids
  sensitivity: null, // of the slider, where it was moved
  documents: [], // {number, name, characters}
  shown: null, // the number of the document in view
};

const listeners = {};

export function on(event, listener) {
  (listeners[event] ??= []).push(listener);
}

export function tell(event) {
  for (const listener of listeners[event] ?? []) listener();
}

/** The policy as it is looked at: what most requests hold. */
export const viewed = () => ({ policy: state.policy, sensitivity: state.sensitivity });

/** Whether the policy can be read. */
export const readable = () => state.described?.problems.length === 0;

export const rolesOf = (text) =>
  text.split(",").map((role) => role.trim()).filter(Boolean);

const COLOURS = 20; // of marked.css
const numberOf = (constraint) => Math.max(0, state.order.indexOf(constraint));

/** What a mark of some constraints looks like: two colours, and all their numbers. */
export function look(constraints, hidden) {
  const numbers = [...new Set(constraints.map(numberOf))];
  const [first, second] = numbers;
  const also = hidden && second !== undefined ? ` also d${second % COLOURS}` : "";
  return {
    className: `${hidden ? "hidden" : "left"} c${first % COLOURS}${also}`,
    "data-by": [...numbers].sort((a, b) => a - b).map((number) => number + 1).join(","),
  };
}

export const legendMark = (constraint, text, hidden = true) =>
  el("mark", look([constraint], hidden), text);
