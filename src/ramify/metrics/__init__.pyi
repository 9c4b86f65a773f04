from ramify.metrics.clus import clus_multilabel_measures
from ramify.metrics.comparisons import (
    plot_level_accuracy,
    plot_prediction,
    plot_staged_loss,
)
from ramify.metrics.curves import (
    PrecisionRecallCurve,
    RocCurve,
    precision_at_recall,
    precision_recall_curves,
    roc_curves,
)
from ramify.metrics.displays import PrecisionRecallDisplay, RocDisplay
from ramify.metrics.evaluation import (
    Evaluation,
    FitRecord,
    evaluate,
    model_complexity,
    overfit_score,
    per_label_report,
    record_fit,
)
from ramify.metrics.hierarchical import (
    hierarchical_f1,
    hierarchical_precision_recall_f1,
    level_accuracy,
    top_k_accuracy,
)
from ramify.metrics.labelwise import (
    macro_f1,
    macro_precision_recall_f1,
    micro_f1,
    micro_precision_recall_f1,
)
from ramify.metrics.losses import (
    h_loss,
    hierarchical_hamming_loss,
    hmc_loss,
    label_imbalance,
    symmetric_loss,
)
from ramify.metrics.protein import f_max, information_content, protein_curve, s_min
from ramify.metrics.protein_curves import ProteinCurve, ThresholdAverages, plot_protein_curves
from ramify.metrics.ranking import (
    mean_auprc,
    mean_auroc,
    pooled_auprc,
    pooled_auroc,
    weighted_auprc,
)
from ramify.metrics.reports import Report
from ramify.metrics.scorers import (
    HierarchicalScorer,
    get_scorer,
    get_scorer_names,
    get_scorers,
)
from ramify.metrics.sets import (
    example_f1,
    example_precision,
    example_recall,
    hamming_loss,
    jaccard_accuracy,
    subset_accuracy,
)

__all__ = [
    "Evaluation",
    "FitRecord",
    "HierarchicalScorer",
    "PrecisionRecallCurve",
    "PrecisionRecallDisplay",
    "ProteinCurve",
    "Report",
    "RocCurve",
    "RocDisplay",
    "ThresholdAverages",
    "clus_multilabel_measures",
    "evaluate",
    "example_f1",
    "example_precision",
    "example_recall",
    "f_max",
    "get_scorer",
    "get_scorer_names",
    "get_scorers",
    "h_loss",
    "hamming_loss",
    "hierarchical_f1",
    "hierarchical_hamming_loss",
    "hierarchical_precision_recall_f1",
    "hmc_loss",
    "information_content",
    "jaccard_accuracy",
    "label_imbalance",
    "level_accuracy",
    "macro_f1",
    "macro_precision_recall_f1",
    "mean_auprc",
    "mean_auroc",
    "micro_f1",
    "micro_precision_recall_f1",
    "model_complexity",
    "overfit_score",
    "per_label_report",
    "plot_level_accuracy",
    "plot_prediction",
    "plot_protein_curves",
    "plot_staged_loss",
    "pooled_auprc",
    "pooled_auroc",
    "precision_at_recall",
    "precision_recall_curves",
    "protein_curve",
    "record_fit",
    "roc_curves",
    "s_min",
    "subset_accuracy",
    "symmetric_loss",
    "top_k_accuracy",
    "weighted_auprc",
]
