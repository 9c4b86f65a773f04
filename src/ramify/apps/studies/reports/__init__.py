"""Reports of a study in every format."""
