"""`LinkageMasker` in both frameworks."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdrag.errors import InternalError, UsageError
from sdrag.linkage import Fitted
from sdrag.linkage.replacing import Masker

from ..support.doubles import LangChainModel, LlamaIndexModel
from ..support.scripted import canary

langchain_documents = pytest.importorskip("langchain_core.documents")
schema = pytest.importorskip("llama_index.core.schema")

WHO = "Ivo Krastev"
KEY = b"sixteen bytes or more"
TAG = canary("tag")
POLICY = {"linkage": {"resolution": {"meaning": False, "terms": False}}}
TEXTS = (f"The member is Mr. {WHO}.", "Nobody is named in this one.")


def fail(_: object, text: str, *__: object) -> None:
    """Quote what it was given, as errors do."""
    raise KeyError(text)


class Following:
    """What both promise of a plan that is followed."""

    async def test_a_plan_follows_the_corpus(self, tmp_path: Path) -> None:
        """Sync and async alike, also from a file: new documents and stale ones."""
        documents = [self.document("a", "The quay of Ms. Nadia Orlova."), *self.named()]
        plan = self.masker(whole_corpus=True, key=KEY).fit(documents)
        plan.save(tmp_path / "plan")
        opened = Fitted.open(tmp_path / "plan", KEY)
        new = self.document("n", f"Later {WHO} came again with Ms. Nadia Orlova.")
        found = []
        for held in (plan, opened):
            masker = self.masker(fitted=held)
            found.append(masker.update([new], ["b"]))
            found.append(await masker.aupdate([new], ["b"]))
        texts = [[self.text(one) for one in made] for _, made in found]
        assert texts == [texts[0]] * 4
        update, made = found[0]
        assert [self.id(one) for one in made][-1] == "n"
        assert len(made) == 1 + len(update.stale)
        assert WHO not in repr(texts)
        assert list(update.fitted.documents) == ["a", "n"]
        again = self.masker(fitted=update.fitted)
        assert again.update([], [])[1] == []

    def test_what_cannot_be_followed_is_refused(self) -> None:
        """No plan, two of one id, nobody of a name."""
        one = self.document("a", TEXTS[0])
        with pytest.raises(UsageError, match="with a plan"):
            self.masker(whole_corpus=True).update([one])
        fitted = self.masker(whole_corpus=True).fit([one])
        with pytest.raises(UsageError, match="same id"):
            self.masker(fitted=fitted).update([one, one])
        with pytest.raises(UsageError, match="not in the corpus"):
            self.masker(fitted=fitted).update([], ["z"])

    @pytest.mark.parametrize(
        ("style", "said"), [("pseudonym", "key"), ("rewrite", "needs a model")]
    )
    def test_what_cannot_be_replaced_is_refused_at_the_start(
        self, style: str, said: str
    ) -> None:
        """Not at the first document."""
        with pytest.raises(UsageError, match=said):
            self.masker(whole_corpus=True, policy={"linkage": {"replace": style}})

    def test_the_plan_says_what_is_put_in_place(self) -> None:
        """Not the policy of the masker that applies it."""
        documents = self.named()
        named = {"linkage": {**POLICY["linkage"], "replace": "pseudonym"}}
        plan = self.masker(whole_corpus=True, key=KEY, policy=named).fit(documents)
        (shard,) = self.apply(self.masker(fitted=plan), documents)
        assert "[NAME_" in self.text(shard)

    async def test_a_plan_that_rewrites_rewrites_shards(self) -> None:
        """By the model of the masker that applies it; without one it is refused."""
        section = {"linkage": {**POLICY["linkage"], "replace": "rewrite"}}
        model = self.model("Somebody was here, it is said.")
        plan = self.masker(whole_corpus=True, policy=section, llm=model).fit(
            self.named()
        )
        with pytest.raises(UsageError, match="needs a model"):
            self.masker(fitted=plan)
        shard = self.document("s", f"Here {WHO} was, it is said.")
        (made,) = self.apply(self.masker(fitted=plan, llm=model), [shard])
        assert self.text(made) == "Somebody was here, it is said."


class TestLangChain(Following):
    def masker(self, **more: object) -> object:
        masking = pytest.importorskip("langchain_sdrag.linkage_masker")
        return masking.LinkageMasker(**{"policy": POLICY, **more})

    def document(self, id_: str, text: str) -> object:
        return langchain_documents.Document(id=id_, page_content=text)

    def named(self) -> list[object]:
        return [self.document("b", TEXTS[0])]

    def text(self, document: object) -> str:
        return document.page_content

    def id(self, document: object) -> str:
        return document.id

    def apply(self, masker: object, documents: list[object]) -> list[object]:
        return list(masker.transform_documents(documents))

    def model(self, reply: str) -> object:
        return LangChainModel(reply=lambda prompt: reply)

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
        monkeypatch.setattr(Masker, "replace", fail)
        with pytest.raises(InternalError) as caught:
            masker.transform_documents(self.documents())
        assert WHO not in str(caught.value)
        assert "fail" not in [entry.name for entry in caught.traceback]

    def test_a_shard_is_not_fitted_on_silently(self) -> None:
        """Without a plan, and without being told that this is all, it refuses."""
        with pytest.raises(UsageError, match="part of a corpus"):
            self.masker()


class TestLlamaIndex(Following):
    def masker(self, **more: object) -> object:
        masking = pytest.importorskip("llamaindex_sdrag.linkage_masker")
        return masking.LinkageMasker(**{"policy": POLICY, **more})

    def document(self, id_: str, text: str) -> object:
        return schema.TextNode(id_=id_, text=text)

    def named(self) -> list[object]:
        return [self.document("b", TEXTS[0])]

    def text(self, node: object) -> str:
        return node.text

    def id(self, node: object) -> str:
        return node.node_id

    def apply(self, masker: object, nodes: list[object]) -> list[object]:
        return list(masker(nodes))

    def model(self, reply: str) -> object:
        return LlamaIndexModel(lambda prompt: reply)

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
        monkeypatch.setattr(Masker, "replace", fail)
        with pytest.raises(InternalError) as caught:
            masker(self.nodes())
        assert WHO not in str(caught.value)
        assert "fail" not in [entry.name for entry in caught.traceback]

    def test_a_shard_is_not_fitted_on_silently(self) -> None:
        """Without a plan, and without being told that this is all, it refuses."""
        with pytest.raises(UsageError, match="part of a corpus"):
            self.masker()
