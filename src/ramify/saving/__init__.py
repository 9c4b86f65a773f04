"""Save models to files and load them again."""

from ramify.saving.container import ModelFileError
from ramify.saving.model import load, save

__all__ = ["ModelFileError", "load", "save"]
