"""What the command line does, as functions: read, train, predict, evaluate, then describe."""
