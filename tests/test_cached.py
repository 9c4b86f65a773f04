"""Attributes that are computed once."""

from __future__ import annotations

import threading

from ramify._cached import cached_property


class Slow:
    """An object whose value takes until it is told to go on."""

    def __init__(self, wait_for=None):
        self.wait_for = wait_for
        self.computing = threading.Event()

    @cached_property
    def value(self):
        """A new object."""
        self.computing.set()
        if self.wait_for is not None:
            assert self.wait_for.wait(timeout=60)
        return object()


def test_a_value_is_computed_once():
    slow = Slow()
    assert slow.value is slow.value
    assert Slow().value is not slow.value
    assert Slow.value.__doc__ == "A new object."


def test_objects_do_not_wait_for_each_other():
    go_on = threading.Event()
    slow = Slow(go_on)
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert slow.computing.wait(timeout=60)
    quick = Slow()
    other = threading.Thread(target=lambda: quick.value)
    other.start()
    other.join(timeout=20)
    go_on.set()
    thread.join()
    assert not other.is_alive()


def test_threads_that_compute_a_value_together_share_it():
    go_on = threading.Event()
    slow = Slow(go_on)
    values = []
    threads = [threading.Thread(target=lambda: values.append(slow.value)) for _ in range(3)]
    for thread in threads:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join()
    assert len(set(map(id, values))) == 1
