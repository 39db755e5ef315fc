"""Sentence windows: the window is put into place first, and then redacted."""

from collection import POLICY, QUESTION, hijacked
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.postprocessor import MetadataReplacementPostProcessor

from llamaindex_sdrag import SelectiveDisclosurePostprocessor
from llamaindex_sdrag.local_embeddings import LocalEmbeddings

text = "Fog lay on the quay. The witness Anna Karlsson saw two men. Then they left."
nodes = SentenceWindowNodeParser.from_defaults(window_size=1).get_nodes_from_documents(
    [Document(text=text)]
)
engine = VectorStoreIndex(nodes, embed_model=LocalEmbeddings()).as_query_engine(
    llm=hijacked,
    node_postprocessors=[
        MetadataReplacementPostProcessor(target_metadata_key="window"),
        SelectiveDisclosurePostprocessor(policy=POLICY),
    ],
)

print(engine.query(QUESTION))
