from ramify.inspection.drawing.plots import plot_label_graph, plot_tree
from ramify.inspection.drawing.svg import export_graphviz, export_svg
from ramify.inspection.explanation import Explanation, explain
from ramify.inspection.importance import Importances, importances, permutation_importances
from ramify.inspection.page.explorer import explore
from ramify.inspection.rulesets.listing import LabelRule, Rule, RuleSet, rules
from ramify.inspection.shapley import shap_values
from ramify.inspection.summary import ModelSummary, NodeSummary, TreeSummary, summarise
from ramify.inspection.text import export_text
from ramify.inspection.tree_paths import Step, TreePath

__all__ = [
    "Explanation",
    "Importances",
    "LabelRule",
    "ModelSummary",
    "NodeSummary",
    "Rule",
    "RuleSet",
    "Step",
    "TreePath",
    "TreeSummary",
    "explain",
    "explore",
    "export_graphviz",
    "export_svg",
    "export_text",
    "importances",
    "permutation_importances",
    "plot_label_graph",
    "plot_tree",
    "rules",
    "shap_values",
    "summarise",
]
