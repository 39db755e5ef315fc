"""A `MultiQueryRetriever` inside: its model words the question anew, out of sight."""

from collection import POLICY, QUESTION, format_docs, store
from langchain_classic.retrievers import MultiQueryRetriever
from langchain_core.language_models import FakeListChatModel

from langchain_sdrag import SelectiveDisclosureRetriever

model = FakeListChatModel(responses=["Who was there?\nWhat was seen at dawn?"])
several = MultiQueryRetriever.from_llm(retriever=store().as_retriever(), llm=model)
retriever = SelectiveDisclosureRetriever(base_retriever=several, policy=POLICY)

print(format_docs(retriever.invoke(QUESTION)))
