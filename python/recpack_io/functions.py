"""Functions of the user, for samples and for batches, and what they are called with."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recpack_io import _core
from recpack_io.keyed import Key

if TYPE_CHECKING:
    import numpy.typing as npt

# Of arrays, as NumPy and as the C++ loader name them.
TYPES = {'uint8': 'u8', 'int32': 'i32', 'int64': 'i64', 'uint64': 'u64', 'float16': 'f16',
         'float32': 'f32'}


class _Keyed:
    """What has a key has its generators."""

    __slots__ = ()

    _key: Key

    @property
    def rng(self) -> np.random.Generator:
        """NumPy's generator, made when it is first asked for."""
        return self._key.rng

    @property
    def seed(self) -> int:
        """Below 2**32, for generators of other libraries."""
        return self._key.seed


class Sample(_Keyed):
    """One sample, for the time of a call: `sample["label"]` is an array of the feature's values.

    Arrays are the function's own, to be changed and kept: int64 or float32 of shape (values,),
    uint8 of shape (bytes,), or a list of these where a feature has not just one value of bytes.
    `in` and keys() as in a dictionary. recpack_io.decode_image() makes pixels of an encoded
    picture.

    id: the record's ordinal in the split. epoch; position: in the epoch, over all ranks.
    image: uint8 of shape (height, width, channels), where the function has an `image`; else None.
    rng: a numpy.random.Generator. seed: below 2**32, for generators of other libraries. Both are
        keyed by the loader's seed, the epoch, the position and the function's `stream`, and by
        nothing else.
    """

    __slots__ = ('_features', '_key', 'epoch', 'id', 'image', 'position')

    id: int
    epoch: int
    position: int
    image: Any  # an array, or None

    def __init__(self, features: _core.Features, id: int, epoch: int, position: int,  # noqa: A002
                 key: Key, image: npt.NDArray[np.uint8] | None):
        self._features, self._key = features, key
        self.id, self.epoch, self.position, self.image = id, epoch, position, image

    def __getitem__(self, name: str) -> Any:
        return self._features[name]

    def __contains__(self, name: str) -> bool:
        return name in self._features

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """Names of the features, sorted."""
        return self._features.keys()


class BatchArrays(_Keyed, dict[str, Any]):
    """A batch, for the time of a call: its arrays by name, to be changed in place. They lie in the
    loader's memory: what is kept of them must be a copy. Arrays of bfloat16, which NumPy has not,
    are not there.

    epoch, position: of its first sample. ids, mask: uint64 and uint8, by sample, to be read.
    rng, seed: as a Sample has them, keyed by the position of the batch's first sample.
    """

    __slots__ = ('_key', 'epoch', 'ids', 'mask', 'position')

    epoch: int
    position: int
    ids: npt.NDArray[np.uint64]
    mask: npt.NDArray[np.uint8]

    def __init__(self, arrays: dict[str, npt.NDArray[Any]], epoch: int, position: int,
                 ids: npt.NDArray[np.uint64], mask: npt.NDArray[np.uint8], key: Key):
        super().__init__(arrays)
        self._key, self.epoch, self.position, self.ids, self.mask = key, epoch, position, ids, mask


def kind_and_shape(declared: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Of one sample's array, as it is declared: a type, or (type, shape)."""
    kind, shape = declared if isinstance(declared, tuple) else (declared, ())
    kind = np.dtype(kind).newbyteorder('=')  # as batches have it
    return kind, (shape,) if isinstance(shape, int) else tuple(shape)


def _core_array(name: str, declared: Any) -> tuple[str, str, tuple[int, ...]]:
    kind, shape = kind_and_shape(declared)
    if kind.name not in TYPES:
        raise TypeError(f'array {name!r} is declared as {kind.name}; there are {", ".join(TYPES)}')
    return name, TYPES[kind.name], shape


@dataclass(frozen=True)
class Declared:
    """A function, and the arrays that it gives."""

    call: Callable[[Any], Any]
    arrays: Mapping[str, Any] = field(default_factory=dict)
    stream: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.call):
            raise TypeError(f'{self.call!r} cannot be called')
        self.core_arrays()

    @property
    def name(self) -> str:
        """What errors call it."""
        return str(getattr(self.call, '__qualname__', type(self.call).__name__))

    def core_arrays(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """The arrays as the core takes them: name, type and a sample's shape."""
        return [_core_array(name, declared) for name, declared in self.arrays.items()]

    def checked(self, result: Any) -> list[npt.NDArray[Any]]:
        """The `result` of a call, in the order of `arrays`, as they are declared. Raises TypeError
        and ValueError for what is not so."""
        who = f'function {self.name}'
        if not isinstance(result, Mapping):
            raise TypeError(f'{who} gave {type(result).__name__}, not a dictionary of its arrays: '
                            f'{", ".join(self.arrays)}')
        if missing := [name for name in self.arrays if name not in result]:
            raise ValueError(f'{who} gave no {missing[0]!r}; '
                             f'it gave: {", ".join(map(str, result))}')
        if unknown := [name for name in result if name not in self.arrays]:
            raise ValueError(f'{who} gave {unknown[0]!r}, which is not declared: '
                             f'{", ".join(self.arrays)}')
        return [self._checked(who, name, result[name]) for name in self.arrays]

    def _checked(self, who: str, name: str, value: Any) -> npt.NDArray[Any]:
        kind, shape = kind_and_shape(self.arrays[name])
        array = np.asarray(value, kind) if type(value) in (int, bool) else np.asarray(value)
        if array.shape != shape:
            raise ValueError(f'{who} gave {name!r} of shape {array.shape}, declared is {shape}')
        if not (np.can_cast(array.dtype, kind, 'safe') or array.dtype.kind == kind.kind == 'f'):
            raise TypeError(f'{who} gave {name!r} as {array.dtype}, declared is {kind.name}: '
                            f'convert it, by .astype("{kind.name}") say')
        return np.ascontiguousarray(array, kind)


@dataclass(frozen=True)
class Function(Declared):
    """Arrays that a function fills: `call(sample)` gives a dictionary of one sample's.

    arrays: what it gives, by name: a type, or (type, shape): {"boxes": ("float32", (10, 4)),
        "area": "float32"}. Types: uint8, int32, int64, uint64, float16, float32. A batch has them
        with the batch size in front. Safe casts are made, and float64 is rounded; others are
        errors.
    image: an Image field: the function is given the picture that this makes (`sample.image`: uint8,
        cropped, resized, flipped and augmented, not normalised).
    stream: functions with the same number draw the same random numbers; None: its place among the
        loader's functions.

    Several threads call it, one at a time for the interpreter's lock (free-threaded Python has none:
    at the same time), or worker processes do. What it returns must be a function of the sample, or
    batches are not one of the seed.
    """

    image: _core.ImageField | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.image, _core.ImageField | None):
            raise TypeError(f'{self.image!r} is no Image, or one with `then`')


@dataclass(frozen=True)
class BatchFunction(Declared):
    """Changes batches when they are whole: `call(batch)` changes arrays in place, and gives a
    dictionary of those that are declared in `arrays`, as Function has them, of one sample's shape;
    None where there are none. `stream`: as Function has it."""
