from ramify.inspection.drawing.plots import plot_label_graph, plot_tree
from ramify.inspection.drawing.svg import export_graphviz, export_svg
from ramify.inspection.explanation import Explanation, explain
from ramify.inspection.importance import Importances, importances, permutation_importances
from ramify.inspection.page.explorer import explore
from ramify.inspection.rulesets.listing import LabelRule, Rule, RuleSet, rules
from ramify.inspection.shapley import shap_values
from ramify.inspection.summary import ModelSummary, NodeSummary, TreeSummary, summarise
from ramify.inspection.tables.facts import ColumnFacts, LabelFacts
from ramify.inspection.tables.look import look
from ramify.inspection.tables.summary import TableSummary
from ramify.inspection.text import export_text
from ramify.inspection.tree_paths import Step, TreePath

__all__ = [
    "ColumnFacts",
    "Explanation",
    "Importances",
    "LabelFacts",
    "LabelRule",
    "ModelSummary",
    "NodeSummary",
    "Rule",
    "RuleSet",
    "Step",
    "TableSummary",
    "TreePath",
    "TreeSummary",
    "explain",
    "explore",
    "export_graphviz",
    "export_svg",
    "export_text",
    "importances",
    "look",
    "permutation_importances",
    "plot_label_graph",
    "plot_tree",
    "rules",
    "shap_values",
    "summarise",
]
