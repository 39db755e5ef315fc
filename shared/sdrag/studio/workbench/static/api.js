// Asking the server. The token came in the fragment of the address; it is kept for
// this tab alone, and is sent in a header that no other page can send.

const KEY = "sdrag-token";

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname);
}

// The address pasted into a tab that shows the page already changes its fragment alone.
addEventListener("hashchange", () => location.reload());

async function fetched(path, options) {
  const headers = {
    ...options.headers,
    Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}`,
  };
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "omit" });
  } catch {
    throw new Error("The workbench does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `Error ${response.status}.`);
  return answer;
}

export const read = (path) => fetched(path, { method: "GET" });

export const ask = (path, body) =>
  fetched(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

export const send = (name, content) =>
  fetched("/api/documents", {
    method: "POST",
    headers: {
      "Content-Type": "application/octet-stream",
      "X-File-Name": encodeURIComponent(name),
    },
    body: content,
  });

/** Hand a text to the browser as a file; it leaves the page for no other place. */
export function save(name, text, kind) {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
