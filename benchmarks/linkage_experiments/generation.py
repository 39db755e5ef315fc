"""
The cluster generator of CLAM, section 5.2: two stages and a programmatic checker.

A generator writes a cluster; a validator, smaller and colder, corrects the person's
entities and audits the questions; the checker keeps what complies. What was written of
late is shown as negative examples, so that clusters differ: summaries of the last five,
and the last ten conditions, locations and demographics.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.linkage_experiments.checker import ALLOWED, problems
from benchmarks.linkage_experiments.generated import RISK_SPLIT
from benchmarks.linkage_experiments.models import Ask, asked, prompt
from sdrag.errors import ModelError

__all__ = ["GENERATOR_TEMPERATURE", "VALIDATOR_TEMPERATURE", "ClusterWriter"]

GENERATOR_TEMPERATURE = 1.0
"""The thesis names none for its generator; diversity asks for a warm one."""
VALIDATOR_TEMPERATURE = 0.1
"""Section 5.2, stage 2."""

_SUMMARIES = 5
_REMEMBERED = 10
_MEMORY = {"MEDICAL_CONDITION", "LOCATION", "DEMOGRAPHIC"}
_MOST_ENTITIES = 8
_MOST_LINKS = 3


@dataclass(slots=True)
class ClusterWriter:
    """
    Writes clusters with two models.

    Args:
        generator: Writes; high capacity.
        validator: Corrects; smaller and colder.
        seed: Fixes the draws of risk and size.
        attempts: How often a cluster is tried before it is given up.
    """

    generator: Ask
    validator: Ask
    seed: int = 0
    attempts: int = 3
    _summaries: deque[str] = field(default_factory=lambda: deque(maxlen=_SUMMARIES))
    _seen: dict[str, deque[str]] = field(
        default_factory=lambda: {name: deque(maxlen=_REMEMBERED) for name in _MEMORY}
    )

    def write(
        self, count: int, topic: str = "health insurance"
    ) -> Iterator[dict[str, Any]]:
        """
        Yield clusters that passed the checker.

        Args:
            count: How many are tried; some may be given up.
            topic: What they are about.
        """
        draw = random.Random(self.seed)
        for index in range(count):
            risk = draw.choices(list(RISK_SPLIT), list(RISK_SPLIT.values()))[0]
            size = draw.choice((4, 5, 6))
            for _ in range(self.attempts):
                cluster = self._tried(index, risk, size, topic)
                if cluster is not None:
                    self._remember(cluster)
                    yield cluster
                    break

    def _tried(
        self, index: int, risk: str, size: int, topic: str
    ) -> dict[str, Any] | None:
        try:
            cluster = self._first_stage(index, risk, size, topic)
            if problems(cluster)[:1] == ["A cluster does not follow the schema."]:
                return None
            refined = self._second_stage(cluster, risk)
        except (ModelError, KeyError, TypeError, AttributeError):
            return None
        return None if problems(refined) else refined

    def _first_stage(
        self, index: int, risk: str, size: int, topic: str
    ) -> dict[str, Any]:
        allowed = sorted(ALLOWED[risk])
        forbidden = sorted(ALLOWED["HIGH"] - ALLOWED[risk])
        user = prompt(
            "cluster_user",
            cluster_risk=risk,
            topic=topic,
            cluster_index=index,
            docs_in_cluster=size,
            entities_per_doc=_MOST_ENTITIES,
            max_link_entities_per_edge=_MOST_LINKS,
            used_conditions=list(self._seen["MEDICAL_CONDITION"]),
            used_locations=list(self._seen["LOCATION"]),
            used_demographics=list(self._seen["DEMOGRAPHIC"]),
            history_summary=list(self._summaries),
            allowed_types=", ".join(allowed),
            forbidden_types=", ".join(forbidden) or "none",
        )
        system = prompt(
            "cluster_system",
            allowed_types=", ".join(allowed),
            schema=prompt("cluster_schema"),
        )
        return asked(self.generator, system, user)

    def _second_stage(self, cluster: dict[str, Any], risk: str) -> dict[str, Any]:
        """Correct the person's entities, then audit the questions."""
        documents, meta = json.dumps(cluster["documents"]), cluster["metadata"]
        person = asked(
            self.validator,
            prompt("person_system", allowed_types=", ".join(sorted(ALLOWED[risk]))),
            prompt(
                "person_user",
                documents_json=documents,
                current_entities_json=json.dumps(meta["person"]["entities"]),
            ),
        )
        questions = asked(
            self.validator,
            prompt("question_system"),
            prompt(
                "question_user",
                questions_json=json.dumps(meta["questions"]),
                documents_json=documents,
            ),
        )
        refined = {
            **meta,
            "cluster_risk": risk,
            "person": {"entities": person["entities"]},
            "questions": questions["questions"],
        }
        return {"documents": cluster["documents"], "metadata": refined}

    def _remember(self, cluster: Mapping[str, Any]) -> None:
        meta = cluster["metadata"]
        self._summaries.append(str(meta.get("content_summary", "")))
        for value, type_ in meta["person"]["entities"]:
            if type_ in self._seen:
                self._seen[type_].append(value)
