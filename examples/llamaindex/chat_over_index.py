"""A chat over `index.as_chat_engine`, with metadata that the host hides."""

from collection import NOTES, POLICY, QUESTION, hijacked, storage
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode

from llamaindex_sdrag import SelectiveDisclosurePostprocessor
from llamaindex_sdrag.local_embeddings import LocalEmbeddings

# What the host had before: its own layout, and keys that no prompt shows.
nodes = [
    TextNode(
        id_=note.node_id,
        text=note.text,
        metadata={**note.metadata, "shelf": f"B-{number}"},
        excluded_llm_metadata_keys=["shelf"],
        text_template="[{metadata_str}]\n{content}",
        metadata_template="{key}={value}",
    )
    for number, note in enumerate(NOTES, start=1)
]
index = VectorStoreIndex(
    nodes, storage_context=storage("shelves"), embed_model=LocalEmbeddings()
)
policy = {**POLICY, "metadata": {"allow": ["source", "shelf"]}}

chat = index.as_chat_engine(
    chat_mode="context",
    llm=hijacked,
    # The one line that is new. `as_chat_engine` makes its own retriever, and hands the
    # nodes to postprocessors before any prompt is built.
    node_postprocessors=[SelectiveDisclosurePostprocessor(policy=policy)],
)
print(chat.chat(QUESTION))
