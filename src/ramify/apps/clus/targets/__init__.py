"""The kinds of targets that CLUS predicts: what a leaf is, and how predictions are evaluated."""
