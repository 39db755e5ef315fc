"""Who may see what is asked of OpenFGA, after the search and before redaction."""

import os
from collections.abc import Sequence

import httpx
from collection import POLICY, QUESTION, format_docs, store

from langchain_sdrag import SelectiveDisclosureRetriever
from sdrag import Options, Passage, Principal, acting_as

SERVER = os.environ["FGA_URL"]
STORE = os.environ["FGA_STORE_ID"]


def allowed(user: str, document: str) -> bool:
    key = {"user": user, "relation": "reader", "object": document}
    url = f"{SERVER}/stores/{STORE}/check"
    answer = httpx.post(url, json={"tuple_key": key}, timeout=5, trust_env=False)
    return answer.raise_for_status().json()["allowed"] is True


def authorize(principal: Principal, passages: Sequence[Passage]) -> list[bool]:
    # An error shows nothing: what cannot be checked is not allowed.
    user = f"user:{principal.id}"
    return [allowed(user, f"document:{passage.id}") for passage in passages]


retriever = SelectiveDisclosureRetriever(
    base_retriever=store().as_retriever(),
    policy=POLICY,
    options=Options(authorize=authorize),
)
with acting_as(Principal("clerk-7")):
    found = retriever.invoke(QUESTION)

print(format_docs(found))
