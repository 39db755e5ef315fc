"""Who asks decides: a constraint that does not bind everybody."""

from collection import format_docs, store

from langchain_sdrag import SelectiveDisclosureRetriever
from sdrag import Principal, acting_as

policy = {
    "constraints": [
        {"text": "Remove the names of witnesses", "unless": {"roles": ["judge"]}}
    ]
}
retriever = SelectiveDisclosureRetriever(
    base_retriever=store().as_retriever(), policy=policy
)
clerk = Principal("clerk-7", roles=frozenset({"clerk"}))
config = {"configurable": {"principal": clerk}}

print(format_docs(retriever.invoke("Who saw the men?", config)))
with acting_as(clerk):
    print(format_docs(retriever.invoke("Who saw the men?")))
