from ramify.taxonomies.crosswalk import Crosswalk
from ramify.taxonomies.mapping import CarriedLabels, LabelMapping, MappingLine
from ramify.taxonomies.probabilities import Revision

__all__ = ["CarriedLabels", "Crosswalk", "LabelMapping", "MappingLine", "Revision"]
