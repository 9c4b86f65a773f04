"""The bundled data set: animals, their traits, their taxonomy and where they live."""

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
Animals: traits of common animals, with two hierarchies of labels in one.

One row is one kind of animal, from the African wild dog to the zebra. The figures are round
numbers of general knowledge for a typical adult in the wild, good enough to learn from and no
substitute for a textbook. They were written for ramify and may be used freely.

Features (unknown cells are missing):

    mass_kg         body mass
    length_cm       head and body; with the tail for birds, reptiles, amphibians and fish;
                    the shell of snails and shellfish, the disc of jellyfish
    lifespan_years  usual length of life; of the adult for insects
    young           young of one litter or eggs of one clutch
    speed_kmh       top speed, dives of birds included; 0 for animals that stay attached
    legs            legs for walking: no wings, fins, flippers or tentacles
    diet            blood, detritus (dead matter), fish, insects (and other small animals),
                    meat, mixed, nectar, plankton, plants
    active          any (no fixed time), day, night, twilight
    cover           exoskeleton, feathers, fur, plates, scales, shell, skin (bare), spines
    birth           eggs, eggs-inside (they hatch in the mother), live-birth, pouch
    moves           the chief way: attached, climbs, crawls, digs, drifts, flies, hops, runs,
                    slithers, swims, walks
    social          colony, group, pairs, solitary
    blood           cold, partly-warm, warm

Figures of bees, wasps and ants are those of a worker, who has no young.

Labels:

    taxonomy/class/order/family    one of them for each animal, such as
                                   taxonomy/mammal/carnivora/felidae. Classes have their
                                   everyday names (fish are several classes in strict
                                   taxonomy); whales are an order of their own.
    habitat/realm/place            one or several, such as habitat/sea/coast and
                                   habitat/land/tundra
"""


def load_animals(as_frame: bool | None = None) -> DataSet:
    """Load the animals: 13 traits, labels on a taxonomy and on habitats.

    A small real data set for examples and tests. It has all that ramify is about: numeric and
    nominal features, missing cells, labels at several levels, several labels a row.

    Parameters
    ----------
    as_frame : bool or None
        Whether `X` is a pandas frame, with the animals as its index. None and True give the
        frame, since seven features are nominal; False gives an array in which a nominal cell
        is the position of its value in ``categories``.

    Returns
    -------
    DataSet
        With `X`, `y`, `hierarchy`, `feature_names`, `categories`, `splits`, `name`,
        `description`, and `names`: the animals in the order of the rows.

    Raises
    ------
    ImportError
        If a frame is wanted and pandas is not installed.

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
