"""Studies: models compared on data sets, from a TOML file to a report."""
