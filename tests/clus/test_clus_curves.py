"""Curves are simplified as in CLUS."""

from __future__ import annotations

import numpy as np

from ramify.apps.clus.measures import precision_at, simplify


def test_points_in_horizontal_and_vertical_parts_are_removed() -> None:
    x = np.array([0.0, 0.25, 0.5, 0.5, 0.5, 1.0])
    y = np.array([1.0, 1.0, 1.0, 0.75, 0.5, 0.25])
    kept = simplify(x, y)
    np.testing.assert_array_equal(kept[0], [0.0, 0.5, 0.5, 1.0])
    np.testing.assert_array_equal(kept[1], [1.0, 1.0, 0.5, 0.25])


def test_points_that_are_almost_level_are_kept() -> None:
    # Curves of CLUS over millions of labels have points whose precision differs by 7e-10.
    x, y = np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.9, 0.9 - 7e-10, 0.9 - 1.4e-9, 0.5])
    kept = simplify(x, y)
    np.testing.assert_array_equal(kept[0], x)
    np.testing.assert_array_equal(kept[1], y)


def test_precision_where_the_curve_drops_is_the_mean() -> None:
    x, y = np.array([0.0, 0.5, 0.5, 0.75, 1.0]), np.array([1.0, 1.0, 0.6, 0.4, 0.2])
    assert precision_at(x, y, 0.5) == 0.8
    assert precision_at(x, y, 0.625) == 0.5
