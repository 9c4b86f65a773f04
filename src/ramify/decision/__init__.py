"""From scores to label sets that obey the hierarchy."""

from ramify.decision._choice import choose_thresholds
from ramify.decision._coherence import make_coherent
from ramify.decision._paths import confident_path, most_probable_path, top_k_labels
from ramify.decision._thresholds import apply_threshold, check_threshold

__all__ = [
    "apply_threshold",
    "check_threshold",
    "choose_thresholds",
    "confident_path",
    "make_coherent",
    "most_probable_path",
    "top_k_labels",
]
