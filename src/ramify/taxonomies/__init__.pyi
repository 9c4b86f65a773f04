from ramify.taxonomies.mapping import CarriedLabels, LabelMapping, MappingLine
from ramify.taxonomies.probabilities import Revision

__all__ = ["CarriedLabels", "LabelMapping", "MappingLine", "Revision"]
