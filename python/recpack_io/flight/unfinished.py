"""Images that travel as bytes, a quarter of their size in float32: the client normalises and converts them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recpack_io import _core
from recpack_io.fields import Field

_PLACES = '_geometry'  # crop and flip of each image, in an array beside the images


def left(fields: Sequence[Field]) -> tuple[list[Field], dict[str, dict[str, Any]]]:
    """Returns the fields with images left as bytes where that is less, and what finishes them, by name."""
    names = {getattr(field, 'name', None) for field in fields}
    made, options = [], {}
    for field in fields:
        unfinished = _core._unfinished(field) if isinstance(field, _core.ImageField) else None
        if unfinished is None or field.name + _PLACES in names:
            made.append(field)
        else:
            made.append(unfinished[0])
            options[field.name] = unfinished[1]
    return made, options


class Finishers:
    """Finish the images of batches, bit for bit as the loader of the server would. Thread-safe.

    Args:
        options: What left() returned.
    """

    def __init__(self, options: Mapping[str, Mapping[str, Any]]):
        self._by_name = {name: _core._ImageFinisher(dict(each)) for name, each in options.items()}

    def __call__(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns the arrays of a batch as the client's program gets them."""
        finished, places = {}, {name + _PLACES for name in self._by_name}
        for name, array in arrays.items():
            if name in self._by_name:
                array = self._by_name[name](array, arrays[name + _PLACES])
                array.flags.writeable = False
            if name not in places:
                finished[name] = array
        return finished
