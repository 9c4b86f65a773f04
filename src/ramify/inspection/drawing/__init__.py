"""Draw trees as SVG, Graphviz and matplotlib figures."""
