from ramify.decision.best_sets import best_label_sets, best_paths
from ramify.decision.coherence import make_coherent
from ramify.decision.leaves import (
    NestedApproximation,
    leaf_weights,
    mandatory_leaves,
    nested_approximation,
)
from ramify.decision.paths import confident_path, most_probable_path, top_k_labels
from ramify.decision.thresholds import apply_threshold, choose_thresholds

__all__ = [
    "NestedApproximation",
    "apply_threshold",
    "best_label_sets",
    "best_paths",
    "choose_thresholds",
    "confident_path",
    "leaf_weights",
    "make_coherent",
    "mandatory_leaves",
    "most_probable_path",
    "nested_approximation",
    "top_k_labels",
]
