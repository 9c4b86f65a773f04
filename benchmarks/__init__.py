"""Speed against peers, measured in one run; see each module."""
