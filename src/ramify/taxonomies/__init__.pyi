from ramify.taxonomies.mapping import CarriedLabels, LabelMapping, MappingLine

__all__ = ["CarriedLabels", "LabelMapping", "MappingLine"]
