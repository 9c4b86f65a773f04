"""Models in files: `save` and `load`."""

from ramify.saving.container import ModelFileError
from ramify.saving.model import load, save

__all__ = ["ModelFileError", "load", "save"]
