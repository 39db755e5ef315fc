// Starts the page, its tabs and its downloads.

import { ask, read, save } from "/api.js";
import * as documents from "/documents.js";
import { byId, say } from "/dom.js";
import * as policy from "/policy.js";
import { rolesOf, state, viewed } from "/state.js";
import "/links.js";
import "/question.js";

const tabs = [...document.querySelectorAll("[role=tab]")];

function select(chosen, { focus = false } = {}) {
  for (const tab of tabs) {
    const own = tab === chosen;
    tab.setAttribute("aria-selected", String(own));
    tab.tabIndex = own ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !own;
  }
  if (focus) chosen.focus();
}

for (const [place, tab] of tabs.entries()) {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) select(tabs[(place + step + tabs.length) % tabs.length], { focus: true });
  });
}

byId("download-policy").addEventListener("click", () =>
  save(state.policyName, state.policy, "application/yaml"),
);
byId("download-report").addEventListener("click", async (event) => {
  event.target.disabled = true;
  try {
    const roles = rolesOf(byId("roles-1").value);
    const { html } = await ask("/api/report", { ...viewed(), roles });
    save("report.html", html, "text/html");
    say("The report shows the documents unredacted. Keep it where the documents may be kept.");
  } catch (error) {
    say(error.message);
  } finally {
    event.target.disabled = false;
  }
});
try {
  const start = await read("/api/start");
  state.policyName = start.policy_name;
  byId("policy-name").textContent = start.policy_name;
  await policy.begin(start.policy);
  await documents.begin(start);
} catch (error) {
  say(error.message);
}
