from ramify.saving.container import LoadLimits, ModelFileError
from ramify.saving.model import load, save

__all__ = ["LoadLimits", "ModelFileError", "load", "save"]
