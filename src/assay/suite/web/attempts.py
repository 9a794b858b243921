"""Failed log-ins, counted, so that nobody can try passwords without end."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

__all__ = ["Attempts", "Key", "keys_of"]

KEPT = 10_000
"""So many names and addresses are remembered; beyond that, the oldest are forgotten."""


class Key(NamedTuple):
    """What failures are counted for, and how many of them it may have."""

    most: int
    name: str
    address: str


def keys_of(name: str, address: str) -> tuple[Key, ...]:
    """The keys of one try: the name from there, everybody from there, the name from anywhere.

    A room of people behind one address gets along, and so does somebody whose name others try.
    """
    name = name.casefold()
    return Key(10, name, address), Key(50, "", address), Key(50, name, "")


@dataclass
class Attempts:
    """The failures of the last `window` seconds."""

    window: float = 300
    clock: Callable[[], float] = time.monotonic
    _failed: dict[Key, deque[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def wait(self, *keys: Key) -> float:
        """Seconds until the next try is allowed, 0 where it is allowed now."""
        with self._lock:
            return max(map(self._wait, keys))

    def failed(self, *keys: Key) -> None:
        """Remember one failure."""
        with self._lock:
            for key in keys:
                times = self._failed.pop(key, deque(maxlen=key.most))
                times.append(self.clock())
                self._failed[key] = times
            while len(self._failed) > KEPT:
                self._failed.pop(next(iter(self._failed)))

    def _wait(self, key: Key) -> float:
        times = self._failed.get(key, deque())
        if len(times) < key.most:
            return 0
        return max(0.0, times[0] + self.window - self.clock())
