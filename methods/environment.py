"""Variables of the environment that are changed for a while only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def kept_environment(names: Iterable[str]) -> Iterator[None]:
    """Give the named variables the values back that they have now, for example after an import that changes them."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
