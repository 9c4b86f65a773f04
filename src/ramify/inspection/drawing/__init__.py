"""Trees drawn as SVG, Graphviz and matplotlib figures."""
