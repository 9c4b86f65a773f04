"""The bundled data set: traits of animals, with taxonomy and habitats as labels."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ramify.datasets.dataset import Categories, DataSet, present
from ramify.hierarchy.hierarchy import Hierarchy

NUMERIC = ("mass_kg", "length_cm", "lifespan_years", "young", "speed_kmh", "legs")
NOMINAL = ("diet", "active", "cover", "birth", "moves", "social", "blood")

DESCRIPTION = """\
Animals: traits of common animals, labelled with a taxonomy and with habitats.

Each row is a kind of animal, from the African wild dog to the zebra. The numbers are rounded
values from general knowledge for a typical adult in the wild. They are good enough for examples,
but no substitute for a textbook. The data were compiled for ramify and may be used freely.

Features (some values are missing):

    mass_kg         body mass
    length_cm       head and body; includes the tail for birds, reptiles, amphibians and fish;
                    the shell of snails and shellfish, the bell of jellyfish
    lifespan_years  typical lifespan; of the adult for insects
    young           young per litter or eggs per clutch
    speed_kmh       top speed, including dives of birds; 0 for animals that stay attached
    legs            legs for walking; not wings, fins, flippers or tentacles
    diet            blood, detritus (dead matter), fish, insects (and other small animals),
                    meat, mixed, nectar, plankton, plants
    active          any (no fixed time), day, night, twilight
    cover           exoskeleton, feathers, fur, plates, scales, shell, skin (bare), spines
    birth           eggs, eggs-inside (they hatch in the mother), live-birth, pouch
    moves           main way of moving: attached, climbs, crawls, digs, drifts, flies, hops,
                    runs, slithers, swims, walks
    social          colony, group, pairs, solitary
    blood           cold, partly-warm, warm

Values of bees, wasps and ants are those of a worker, which has no young.

Labels:

    taxonomy/class/order/family    one per animal, such as
                                   taxonomy/mammal/carnivora/felidae. Classes have their
                                   common names (fish are several classes in strict
                                   taxonomy); whales are a separate order.
    habitat/realm/place            one or more per animal, such as habitat/sea/coast and
                                   habitat/land/tundra
"""


def load_animals(as_frame: bool | None = None) -> DataSet:
    """Load the animals data set: 13 traits, with a taxonomy and habitats as labels.

    This small data set for examples and tests has numeric and nominal features, missing values,
    labels at several levels and several labels per row.

    Parameters
    ----------
    as_frame : bool or None
        Whether to return `X` as a pandas data frame, with the animals as its index. None is the
        same as True, because seven features are nominal. If False, `X` is an array in which a
        nominal value is coded as its position in ``categories``.

    Returns
    -------
    DataSet
        With `X`, `y`, `hierarchy`, `feature_names`, `categories`, `splits`, `name`,
        `description`, and `names`, the animals in the order of the rows.

    Raises
    ------
    ImportError
        If `as_frame` is not False and pandas is not installed.

    Examples
    --------
    >>> from ramify.datasets import load_animals
    >>> data = load_animals()
    >>> data.X.loc["lion", ["diet", "moves", "social"]].tolist()
    ['meat', 'runs', 'group']
    >>> lion = data.names.index("lion")
    >>> data.hierarchy.decode(data.y[[lion]])[0]
    ('habitat/land/grassland', 'habitat/land/savanna', 'taxonomy/mammal/carnivora/felidae')
    """
    rows = _read()
    names = tuple(row["animal"] for row in rows)
    categories = {
        name: tuple(sorted({row[name] for row in rows if row[name]})) for name in NOMINAL
    }
    labels = [_labels(row) for row in rows]
    hierarchy = Hierarchy.from_paths(label for row in labels for label in row)
    feature_names = NUMERIC + NOMINAL
    X = _features(rows, categories)
    return DataSet(
        X=present(X, feature_names, categories, as_frame, caller="load_animals", index=names),
        y=hierarchy.encode(labels),
        hierarchy=hierarchy,
        feature_names=feature_names,
        categories=categories,
        names=names,
        name="animals",
        description=DESCRIPTION,
    )


def _read() -> list[dict[str, str]]:
    text = files("ramify.datasets").joinpath("animals.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _labels(row: dict[str, str]) -> tuple[str, ...]:
    habitats = (f"habitat/{place}" for place in row["habitat"].split())
    return (f"taxonomy/{row['taxonomy']}", *habitats)


def _features(rows: list[dict[str, str]], categories: Categories) -> NDArray[np.float64]:
    columns = [[float(row[name] or "nan") for row in rows] for name in NUMERIC]
    for name, values in categories.items():
        code = {value: float(position) for position, value in enumerate(values)}
        columns.append([code.get(row[name], np.nan) for row in rows])
    return np.ascontiguousarray(np.array(columns, dtype=np.float64).T)
