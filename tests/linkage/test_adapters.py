"""`LinkageMasker` in both frameworks."""

from __future__ import annotations

import pytest

from sdrag.errors import InternalError, UsageError
from sdrag.testing import canary

langchain_documents = pytest.importorskip("langchain_core.documents")
schema = pytest.importorskip("llama_index.core.schema")

WHO = "Ivo Krastev"
TAG = canary("tag")
POLICY = {"linkage": {"resolution": {"meaning": False, "terms": False}}}
TEXTS = (f"The member is Mr. {WHO}.", "Nobody is named in this one.")


def fail(_: object, document: object) -> None:
    """Quote what it was given, as errors do."""
    raise KeyError(document.text)


class TestLangChain:
    def masker(self, **more: object) -> object:
        masking = pytest.importorskip("langchain_sdrag.linkage_masker")
        return masking.LinkageMasker(policy=POLICY, **more)

    def documents(self) -> list[object]:
        return [
            langchain_documents.Document(page_content=text, metadata={"by": WHO})
            for text in TEXTS
        ]

    async def test_sync_and_async_mask_alike(self) -> None:
        """Neither text nor metadata keeps the name; inputs are as they were."""
        documents = self.documents()
        masker = self.masker(whole_corpus=True)
        masked = masker.transform_documents(documents)
        again = await masker.atransform_documents(documents)
        assert [d.page_content for d in masked] == [d.page_content for d in again]
        assert WHO not in repr(masked)
        assert documents[0].metadata["by"] == WHO
        assert masked[1].page_content == TEXTS[1]

    def test_a_plan_is_applied_to_shards(self) -> None:
        """Fitted once, applied to a part."""
        fitted = self.masker(whole_corpus=True).fit(self.documents())
        (shard,) = self.masker(fitted=fitted).transform_documents(self.documents()[:1])
        assert WHO not in repr(shard)

    def test_a_fault_of_a_plan_leaves_without_what_it_was_applied_to(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever goes wrong in it; neither words nor frames."""
        fitted = self.masker(whole_corpus=True).fit(self.documents())
        masker = self.masker(fitted=fitted)
        monkeypatch.setattr(type(fitted.masked), "cleaned", fail)
        with pytest.raises(InternalError) as caught:
            masker.transform_documents(self.documents())
        assert WHO not in str(caught.value)
        assert "fail" not in [entry.name for entry in caught.traceback]

    def test_a_shard_is_not_fitted_on_silently(self) -> None:
        """Without a plan, and without being told that this is all, it refuses."""
        with pytest.raises(UsageError, match="part of a corpus"):
            self.masker()


class TestLlamaIndex:
    def masker(self, **more: object) -> object:
        masking = pytest.importorskip("llamaindex_sdrag.linkage_masker")
        return masking.LinkageMasker(policy=POLICY, **more)

    def nodes(self) -> list[object]:
        return [
            schema.TextNode(id_=f"n{n}", text=text, metadata={"by": WHO})
            for n, text in enumerate(TEXTS)
        ]

    async def test_sync_and_async_mask_alike(self) -> None:
        """Neither text nor metadata keeps the name; inputs are as they were."""
        nodes = self.nodes()
        masker = self.masker(whole_corpus=True)
        masked, again = masker(nodes), await masker.acall(nodes)
        assert [node.text for node in masked] == [node.text for node in again]
        assert WHO not in repr([node.model_dump() for node in masked])
        assert nodes[0].metadata["by"] == WHO
        assert [node.node_id for node in masked] == ["n0", "n1"]

    def test_it_works_in_a_pipeline(self) -> None:
        """As a transformation among others."""
        ingestion = pytest.importorskip("llama_index.core.ingestion")
        pipeline = ingestion.IngestionPipeline(
            transformations=[self.masker(whole_corpus=True)]
        )
        assert WHO not in repr(
            [n.model_dump() for n in pipeline.run(nodes=self.nodes())]
        )

    def test_a_fault_of_a_plan_leaves_without_what_it_was_applied_to(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever goes wrong in it; neither words nor frames."""
        fitted = self.masker(whole_corpus=True).fit(self.nodes())
        masker = self.masker(fitted=fitted)
        monkeypatch.setattr(type(fitted.masked), "cleaned", fail)
        with pytest.raises(InternalError) as caught:
            masker(self.nodes())
        assert WHO not in str(caught.value)
        assert "fail" not in [entry.name for entry in caught.traceback]

    def test_a_shard_is_not_fitted_on_silently(self) -> None:
        """Without a plan, and without being told that this is all, it refuses."""
        with pytest.raises(UsageError, match="part of a corpus"):
            self.masker()
