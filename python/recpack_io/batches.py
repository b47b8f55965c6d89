"""Batches: the arrays that a loader gives, by name."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from recpack_io import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def described(kind: str, arrays: Iterable[tuple[str, Any]], number: int | None = None,
              epoch: int | None = None) -> str:
    """Returns the text of a batch: its place, if that is known, and each array's type and shape."""
    texts = []
    for name, array in arrays:
        of = getattr(array, 'dtype', None)
        if of is None:  # a library has put something else there
            texts.append(f'{name} {type(array).__name__}')
            continue
        kind_of = str(getattr(of, 'name', of)).removeprefix('torch.')
        # NumPy has no bfloat16.
        texts.append(f'{name} bfloat16' if kind_of == 'object' else f'{name} {kind_of} {tuple(array.shape)}')
    place = '' if number is None else f' {number} of epoch {epoch}'
    return f'<{kind}{place}: {", ".join(texts)}>'


class Batch:
    """The arrays of a batch by name, each of shape (samples, ...).

    The arrays share the batch's memory, without a copy, and keep it alive.
    """

    __slots__ = ('_core',)

    def __init__(self, core: _core.Batch):
        self._core = core

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._core.ndarray(name)

    def __len__(self) -> int:
        return len(self._core)

    def keys(self) -> list[str]:
        """Returns the names of the arrays."""
        return self._core.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def items(self) -> list[tuple[str, NDArray[Any]]]:
        """Returns the arrays with their names."""
        return [(name, self[name]) for name in self.keys()]

    def dlpack(self, name: str) -> Any:
        """Returns the array `name` for torch.from_dlpack(), jax.dlpack.from_dlpack() and others.

        Supports bfloat16, which NumPy does not.
        """
        return self._core.dlpack(name)

    @property
    def epoch(self) -> int:
        """Epoch of the first sample."""
        return self._core.epoch

    @property
    def number(self) -> int:
        """Number of the batch in the epoch, counted from where this run began."""
        return self._core.number

    @property
    def ids(self) -> NDArray[np.uint64]:
        """Ordinals of the records in the split, uint64 of shape (samples,)."""
        return self._core.ids

    @property
    def mask(self) -> NDArray[np.uint8]:
        """0 for padding of the last batch, otherwise 1; uint8 of shape (samples,)."""
        return self._core.mask

    @property
    def sources(self) -> NDArray[np.uint32]:
        """Number of each sample's source in the mixture, uint32 of shape (samples,)."""
        return self._core.sources

    @property
    def token(self) -> str:
        """Resume token for the position after this batch; part of a state."""
        return self._core.token

    def __repr__(self) -> str:
        return described('recpack_io.Batch', self.items(), self.number, self.epoch)
