"""ramify learns classifiers whose labels form a hierarchy."""

from ramify.hierarchy import Hierarchy

__version__ = "0.1.0"
__all__ = ["Hierarchy"]
