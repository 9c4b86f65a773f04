"""Tables of CSV, spreadsheets, parquet and other files."""
