"""The hook after retrieval, as a node postprocessor."""

from collection import POLICY, QUESTION, hijacked, index

from llamaindex_sdrag import SelectiveDisclosurePostprocessor

engine = index().as_query_engine(
    llm=hijacked, node_postprocessors=[SelectiveDisclosurePostprocessor(policy=POLICY)]
)

print(engine.query(QUESTION))
