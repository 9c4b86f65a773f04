"""Extract rules from trees, simplify them and format them as text and JSON."""
