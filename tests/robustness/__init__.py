"""Damaged files and killed processes: a short form in the suite, a long one by `make fuzz`."""
