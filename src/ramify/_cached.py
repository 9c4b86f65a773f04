"""Attributes that are computed on first use and kept."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 (named as in functools)
        """A cached property without the lock that Python 3.10 and 3.11 share between objects.

        With it, threads wait for each other, and a process forked meanwhile waits for ever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            values = instance.__dict__
            if self.attrname not in values:  # of two threads, the first sets the value of both
                return values.setdefault(self.attrname, self.func(instance))
            return values[self.attrname]
