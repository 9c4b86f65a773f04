"""Tables of any format as the applications read them: settings, checks of cells, batches."""
