"""Speed, scale and accuracy against peers, measured in one run."""
