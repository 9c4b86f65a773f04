"""Measures of hierarchical and multi-label predictions, on one matrix form."""

from ramify.metrics._ranking import (
    mean_auprc,
    mean_auroc,
    pooled_auprc,
    pooled_auroc,
    weighted_auprc,
)

__all__ = ["mean_auprc", "mean_auroc", "pooled_auprc", "pooled_auroc", "weighted_auprc"]
