"""An `AutoMergingRetriever` inside: the parent is merged first, and then redacted."""

from collection import POLICY, QUESTION
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.node_parser import HierarchicalNodeParser, get_leaf_nodes
from llama_index.core.retrievers import AutoMergingRetriever

from llamaindex_sdrag import SelectiveDisclosureRetriever
from llamaindex_sdrag.local_embeddings import LocalEmbeddings

text = "The witness Anna Karlsson saw two men. They unloaded crates at dawn. " * 4
parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64], chunk_overlap=8)
nodes = parser.get_nodes_from_documents([Document(text=text)])
context = StorageContext.from_defaults()
context.docstore.add_documents(nodes)
index = VectorStoreIndex(
    get_leaf_nodes(nodes), storage_context=context, embed_model=LocalEmbeddings()
)
merging = AutoMergingRetriever(index.as_retriever(similarity_top_k=4), context)
retriever = SelectiveDisclosureRetriever(base_retriever=merging, policy=POLICY)

print([found.text for found in retriever.retrieve(QUESTION)])
