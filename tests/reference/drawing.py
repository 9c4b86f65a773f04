"""Random tests of extra trees: the generator, and the tests that it draws for a column.

>>> draws = Draws.of_column(spread(7), 0)
>>> 0 <= draws.uniform() < 1
True
"""

from __future__ import annotations

from dataclasses import dataclass

_ALL = 2**64 - 1
_GAMMA = 0x9E3779B97F4A7C15


def spread(x: int) -> int:
    """Return the finaliser of SplitMix64."""
    x = (x + _GAMMA) & _ALL
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _ALL
    return x ^ (x >> 31)


def seed_of_child(seed: int, branch: int) -> int:
    """Return the seed of a child of a node."""
    return spread((seed + branch + 1) & _ALL)


@dataclass
class Draws:
    """SplitMix64: the random numbers for one column in one node."""

    state: int

    @classmethod
    def of_column(cls, node_seed: int, column: int) -> Draws:
        """Return the draws that depend on the node and the column only."""
        return cls(spread(node_seed ^ spread(column + 1)))

    def next(self) -> int:
        """Return 64 random bits."""
        self.state = (self.state + _GAMMA) & _ALL
        return spread(self.state)

    def uniform(self) -> float:
        """Return a number from 0 up to, but not including, 1."""
        return (self.next() >> 11) * 2.0**-53

    def below(self, bound: int) -> int:
        """Return a whole number below a bound, by Lemire's method."""
        while True:
            product = (self.next() >> 32) * bound
            low = product % 2**32
            if low >= bound or low >= (2**32 - bound) % bound:
                return product >> 32

    def threshold(self, low: float, high: float) -> float:
        """Return a threshold between two values that is below the higher one."""
        u = self.uniform()
        drawn = low * (1 - u) + high * u
        return max(drawn, low) if drawn < high else low

    def subset(self, values: list[int]) -> list[int]:
        """Return some of the values: not none and, if there are several, not all."""
        inside = [self.next() >> 63 for _ in values]
        if len(set(inside)) == 1:
            one = self.below(len(values))
            inside[one] = 1 - inside[one]
        return [v for v, chosen in zip(values, inside, strict=True) if chosen]
