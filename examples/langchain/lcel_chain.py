"""An LCEL chain: only the retriever is wrapped."""

from collection import POLICY, QUESTION, format_docs, hijacked, store
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from langchain_sdrag import SelectiveDisclosureRetriever

filters = {"filter": {"kind": {"$in": ["report", "notice"]}}}  # Chroma's own
retriever = SelectiveDisclosureRetriever(
    base_retriever=store().as_retriever(search_kwargs=filters), policy=POLICY
)
prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
given = {"context": retriever | format_docs, "question": RunnablePassthrough()}
chain = given | prompt | hijacked

print(chain.invoke(QUESTION))
for chunk in chain.stream(QUESTION):
    print(chunk)
