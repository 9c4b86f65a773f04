"""Reading a model: trees as text and pictures, rules, explanations, importances, a page."""

from ramify.inspection.explain import Explanation, Step, TreePath, explain
from ramify.inspection.rules import LabelRule, Rule, RuleSet, rules
from ramify.inspection.shapley import shap_values
from ramify.inspection.summary import ModelSummary, NodeSummary, TreeSummary, summarise
from ramify.inspection.text import export_text

__all__ = [
    "Explanation",
    "LabelRule",
    "ModelSummary",
    "NodeSummary",
    "Rule",
    "RuleSet",
    "Step",
    "TreePath",
    "TreeSummary",
    "explain",
    "export_text",
    "rules",
    "shap_values",
    "summarise",
]
