"""Configuration of the documentation site; `make docs` builds it into build/docs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode

import ramify

DOCS = Path(__file__).parent

project = "ramify"
author = "The ramify developers"
project_copyright = author
version = release = ramify.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # equations without a network
]
exclude_patterns = [
    "conftest.py",
    "gallery/*.py",
    "gallery/**/README.*",
    "gallery/GALLERY_HEADER.rst",
]
templates_path = ["_templates"]
default_role = "literal"
highlight_language = "default"  # Python if it is Python, else plain text
nitpicky = False

# ---- Markdown --------------------------------------------------------------------------------

myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

# ---- API reference ---------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # docstrings state the types
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False  # methods follow the class on its page
numpydoc_xref_param_type = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# ---- gallery ---------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/example_",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("ramify",),
    "reference_url": {"ramify": None},
    "remove_config_comments": True,
    "show_memory": False,
    "plot_gallery": os.environ.get("RAMIFY_GALLERY", "1") != "0",
    "download_all_examples": False,
    "write_computation_times": False,
    "image_srcset": ["2x"],
    "abort_on_example_error": True,
}
suppress_warnings = ["config.cache"]  # the settings of the gallery contain an object

# ---- appearance ------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "ramify"
html_static_path = ["_static"]
html_css_files = ["ramify.css"]
html_js_files = ["names.js"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "ramify",
    },
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "collapse_navigation": True,  # its buttons to expand have no names
    "show_prev_next": True,
    "use_edit_page_button": False,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
WITHOUT_SIDEBAR = ("benchmarks", "changelog", "glossary", "in-pictures", "index", "tutorial")
html_sidebars = {page: [] for page in WITHOUT_SIDEBAR}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# ---- references to other sites, without fetching their inventories ----------------------------

SCIKIT_LEARN = "https://scikit-learn.org/stable/"
SCIKIT_LEARN_LABELS = {
    "metadata_routing": "metadata_routing.html",
    "r2_score": "modules/model_evaluation.html#r2-score",
    "df_output_transform": "modules/df_output_transform.html",
    "sphx_glr_auto_examples_miscellaneous_plot_set_output.py": (
        "auto_examples/miscellaneous/plot_set_output.html"
    ),
}


def link_scikit_learn(app: Any, env: Any, node: Any, content: nodes.Node) -> nodes.Node | None:
    """Resolve the references in docstrings that estimators inherit from scikit-learn."""
    target, kind = str(node["reftarget"]), node.get("reftype")
    if target.startswith("sklearn."):
        page = f"modules/generated/{target}.html"
    elif kind == "term":
        page = f"glossary.html#term-{target}"
    elif kind == "ref" and target in SCIKIT_LEARN_LABELS:
        page = SCIKIT_LEARN_LABELS[target]
    else:
        return None
    return nodes.reference("", "", content, internal=False, refuri=SCIKIT_LEARN + page)


def link_public_names(app: Any, doctree: nodes.document, page: str) -> None:
    """Make links of the public names in the text, such as `PCTClassifier(max_depth=3)`.

    Names of functions that are ordinary words link only with their module or parentheses.
    """
    targets = _public_targets(app)
    for literal in list(doctree.findall(nodes.literal)):
        called = re.fullmatch(r"([\w.]+)(\(.*)?", literal.astext(), re.DOTALL)
        target = targets.get(called[1] + ("()" if called[2] else "")) if called else None
        if target is None or target.docname == page or _is_in_link(literal):
            continue
        link = make_refnode(app.builder, page, target.docname, target.node_id, literal.deepcopy())
        literal.replace_self(link)


def _public_targets(app: Any) -> dict[str, Any]:
    targets: dict[str, Any] = {}
    for path, entry in app.env.domains["py"].objects.items():
        if entry.objtype in ("class", "exception", "function") and path.startswith("ramify."):
            name = path.rpartition(".")[2]
            targets[path] = targets[path + "()"] = targets[name + "()"] = entry
            if entry.objtype != "function" or "_" in name:
                targets[name] = entry
    return targets


def _is_in_link(node: nodes.Node) -> bool:
    while node is not None:
        if isinstance(node, nodes.reference | nodes.title):
            return True
        node = node.parent
    return False


def escape_underscores(app: Any, what: str, name: str, *others: Any) -> None:
    """Escape the last underscores of types such as "ndarray of shape (n_features_in_,)".

    In reStructuredText they would make links of the words.
    """
    lines: list[str] = others[-1]
    for k, line in enumerate(lines):
        names, colon, kind = line.partition(" : ")
        if colon and not line.startswith(" "):
            lines[k] = names + colon + re.sub(r"_(?!\w)", r"\\_", kind)


def skip_foreign_members(app: Any, what: str, name: str, obj: Any, *others: Any) -> bool | None:
    """Leave out members of tuples, exceptions and other classes that Python itself defines."""
    return True if what == "class" and isinstance(obj, _BUILTIN) else None


_BUILTIN = (type(str.join), type(dict.fromkeys), type(tuple.__new__))


def setup(app: Any) -> None:
    """Connect the functions of this file with the events of Sphinx."""
    app.connect("missing-reference", link_scikit_learn)
    app.connect("doctree-resolved", link_public_names)
    app.connect("autodoc-process-docstring", escape_underscores, priority=400)  # before numpydoc
    app.connect("autodoc-skip-member", skip_foreign_members)
