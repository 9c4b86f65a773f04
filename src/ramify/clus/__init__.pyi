from ramify.clus.errors import SettingsError, UnsupportedOptionError
from ramify.clus.settings import Settings, read_settings
from ramify.clus.switches import Switches

__all__ = [
    "Settings",
    "SettingsError",
    "Switches",
    "UnsupportedOptionError",
    "read_settings",
]
