"""Rules: extraction, simplification, text and JSON."""
