from ramify.model_selection.candidates import ModelChoice, Trial
from ramify.model_selection.choosing import choose_model
from ramify.model_selection.predicting import cross_val_predict
from ramify.model_selection.splitting import (
    HierarchicalStratifiedKFold,
    HierarchicalStratifiedShuffleSplit,
    predefined_split,
)

__all__ = [
    "HierarchicalStratifiedKFold",
    "HierarchicalStratifiedShuffleSplit",
    "ModelChoice",
    "Trial",
    "choose_model",
    "cross_val_predict",
    "predefined_split",
]
