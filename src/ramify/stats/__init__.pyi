from ramify.stats.diagram import rank_diagram
from ramify.stats.friedman_test import FriedmanResult, NemenyiResult, friedman, nemenyi
from ramify.stats.pairs import (
    AdjustedPValues,
    PairwiseResult,
    WilcoxonResult,
    benjamini_hochberg,
    pairwise,
    wilcoxon,
)
from ramify.stats.scores import AverageRanks, WinsTiesLosses, average_ranks, wins_ties_losses

__all__ = [
    "AdjustedPValues",
    "AverageRanks",
    "FriedmanResult",
    "NemenyiResult",
    "PairwiseResult",
    "WilcoxonResult",
    "WinsTiesLosses",
    "average_ranks",
    "benjamini_hochberg",
    "friedman",
    "nemenyi",
    "pairwise",
    "rank_diagram",
    "wilcoxon",
    "wins_ties_losses",
]
