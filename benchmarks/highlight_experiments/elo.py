"""
Elo and win rate from pairwise comparisons (section 7.1).

"We use the Bradley-Terry model to compute Elo scores from these pairwise outcomes,
treating ties as half a win for each model"; WinsRate = (Wins + 0.5 Ties) / TotalGames.
A battle in which neither answer is acceptable is no win and no tie, but is a game. The
strengths are found by the usual fixed point, with half a win and half a loss against an
imaginary average player, so that a player who won all its games has a finite rating.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Battle", "BattleResult", "Rating", "ratings"]

BattleResult = Literal["first", "second", "tie", "neither"]
_ROUNDS = 1_000
_CENTRE = 1_000.0
_SCALE = 400.0


@dataclass(frozen=True, slots=True)
class Battle:
    """Two pipelines on one question, and which answer was better."""

    first: str
    second: str
    outcome: BattleResult


@dataclass(frozen=True, slots=True)
class Rating:
    """A pipeline's Elo score and win rate."""

    elo: float
    win_rate: float
    games: int


def ratings(battles: Sequence[Battle]) -> dict[str, Rating]:
    """Rate every pipeline; the mean Elo is 1000."""
    names = sorted({name for one in battles for name in (one.first, one.second)})
    wins = dict.fromkeys(names, 0.0)
    games = dict.fromkeys(names, 0)
    met: dict[tuple[str, str], float] = {}
    for one in battles:
        games[one.first] += 1
        games[one.second] += 1
        if one.outcome == "neither":
            continue
        share = {"first": 1.0, "tie": 0.5, "second": 0.0}[one.outcome]
        wins[one.first] += share
        wins[one.second] += 1.0 - share
        for pair in ((one.first, one.second), (one.second, one.first)):
            met[pair] = met.get(pair, 0.0) + 1.0
    strengths = _strengths(names, wins, met)
    logs = {name: math.log10(value) for name, value in strengths.items()}
    mean = sum(logs.values()) / len(logs) if logs else 0.0
    return {
        name: Rating(
            _CENTRE + _SCALE * (logs[name] - mean),
            wins[name] / games[name],
            games[name],
        )
        for name in names
    }


def _strengths(
    names: Sequence[str], wins: dict[str, float], met: dict[tuple[str, str], float]
) -> dict[str, float]:
    strengths = dict.fromkeys(names, 1.0)
    for _ in range(_ROUNDS):
        renewed = {
            name: (wins[name] + 0.5)
            / (
                1.0 / (strengths[name] + 1.0)
                + sum(
                    met.get((name, other), 0.0) / (strengths[name] + strengths[other])
                    for other in names
                    if other != name
                )
            )
            for name in names
        }
        moved = max(abs(renewed[name] - strengths[name]) for name in names)
        strengths = renewed
        if moved < 1e-9:
            break
    return strengths
