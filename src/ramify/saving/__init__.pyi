from ramify.saving.container import ModelFileError
from ramify.saving.limits import LoadLimits
from ramify.saving.model import load, save

__all__ = ["LoadLimits", "ModelFileError", "load", "save"]
