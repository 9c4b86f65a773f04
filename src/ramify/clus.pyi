from ramify.apps.clus.errors import SettingsError, UnsupportedOptionError
from ramify.apps.clus.options import Switches
from ramify.apps.clus.settings import Settings, read_settings

__all__ = [
    "Settings",
    "SettingsError",
    "Switches",
    "UnsupportedOptionError",
    "read_settings",
]
