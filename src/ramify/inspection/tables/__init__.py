"""What a table has: its columns, labels and rows, as text, JSON and an HTML page."""
