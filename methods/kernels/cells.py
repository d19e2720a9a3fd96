"""Buffers of numbers that are neither floats nor packs: symbols and dual numbers, for kernels run in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Value = Any  # a scalar of any kind


class Cells(Sequence[Value]):
    """A flat buffer of scalars. Slices are views, as numpy's are; it notes which places are read."""

    def __init__(self, cells: Iterable[Value], noted: bool = False) -> None:
        self.cells = list(cells)
        self.places: Any = range(len(self.cells))
        self.read: set[int] | None = set() if noted else None

    @property
    def size(self) -> int:
        return len(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            view = object.__new__(type(self))
            view.__dict__.update(self.__dict__, places=self.places[i])
            return view
        place = self.places[i]
        if self.read is not None:
            self.read.add(place)
        return self.cells[place]

    def __setitem__(self, i: int, x: Value) -> None:
        self.cells[self.places[i]] = x
