"""User functions on samples and batches, and the objects that they are called with."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recpack_io import _core
from recpack_io.keyed import Key

if TYPE_CHECKING:
    import numpy.typing as npt

# Array types: names in NumPy and in the C++ loader.
TYPES = {'uint8': 'u8', 'int32': 'i32', 'int64': 'i64', 'uint64': 'u64', 'float16': 'f16',
         'float32': 'f32'}


class _Keyed:
    """Base of objects with random generators that are made from a key."""

    __slots__ = ()

    _key: Key

    @property
    def rng(self) -> np.random.Generator:
        """A NumPy generator, made on first use."""
        return self._key.rng

    @property
    def seed(self) -> int:
        """A seed below 2**32, for generators of other libraries."""
        return self._key.seed


class Sample(_Keyed):
    """A sample, valid during a call: `sample["label"]` is an array of the feature's values.

    Arrays belong to the function, which may change and keep them: int64 or float32 of shape
    (values,), or of the shape in the feature NAME/shape, uint8 of shape (bytes,), or a list of these if a feature does not have exactly one
    value of bytes. `in` and keys() work as in a dictionary. recpack_io.decode_image() decodes
    encoded images.

    Attributes:
        id: Ordinal of the record in the split.
        epoch: Epoch of the sample.
        position: Position in the epoch, over all ranks.
        image: uint8 array of shape (height, width, channels) if the function has an `image`,
            otherwise None.
        crop: The part of the source image that became `image`: (left, top, width, height) in its
            pixels, floats. Boxes and points of the sample move and scale with it. It reaches beyond
            the source where a crop was padded. None without an `image`.
        flip: True if `image` was mirrored after that.
        source_size: Height and width of the source image, turned if the field's apply_orientation
            says so; None without an `image`.
        audio: float32 array of shape (length), or (channels, length) for several channels, if the
            function has an `audio`, otherwise None.
        audio_begin, audio_length, audio_rate: The first frame of the sound that is in `audio`, how
            many of its frames are (zeros follow), and its frames per second; None without an
            `audio`.
        rng: A numpy.random.Generator.
        seed: A seed below 2**32 for generators of other libraries. `rng` and `seed` depend only on
            the loader's seed, the epoch, the position and the function's `stream`.
    """

    __slots__ = ('_features', '_key', 'audio', 'audio_begin', 'audio_length', 'audio_rate', 'crop',
                 'epoch', 'flip', 'id', 'image', 'position', 'source_size')

    id: int
    epoch: int
    position: int
    image: Any  # an array, or None
    crop: tuple[float, float, float, float] | None
    flip: bool
    source_size: tuple[int, int] | None
    audio: Any  # an array, or None
    audio_begin: int | None
    audio_length: int | None
    audio_rate: int | None

    def __init__(self, features: _core.Features, id: int, epoch: int, position: int,  # noqa: A002
                 key: Key, image: npt.NDArray[np.uint8] | None, crop: Sequence[float] | None = None,
                 audio: npt.NDArray[np.float32] | None = None,
                 part: tuple[int, int, int] | None = None):
        self._features, self._key = features, key
        self.id, self.epoch, self.position, self.image = id, epoch, position, image
        self.crop = self.source_size = None
        self.flip = False
        if crop is not None:
            left, top, width, height, rows, columns, flip = crop
            self.crop, self.source_size = (left, top, width, height), (int(rows), int(columns))
            self.flip = bool(flip)
        self.audio = audio
        self.audio_begin, self.audio_length, self.audio_rate = part or (None, None, None)

    def __getitem__(self, name: str) -> Any:
        return self._features[name]

    def __contains__(self, name: str) -> bool:
        return name in self._features

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """Returns the names of the features, sorted."""
        return self._features.keys()


class BatchArrays(_Keyed, dict[str, Any]):
    """A batch, valid during a call: its arrays by name, to change in place.

    The arrays lie in the loader's memory: copy what you keep. Arrays of bfloat16 are missing, since
    NumPy does not support it.

    Attributes:
        epoch, position: Of the first sample.
        ids, mask: Arrays of uint64 and uint8 per sample, read-only.
        rng, seed: As in Sample, keyed by the position of the first sample.
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


@dataclass(frozen=True)
class Ragged:
    """The first dimension of a function's array whose length differs from sample to sample.

    Batches hold the rows of all samples one behind the other, without padding, and an array NAME_offsets of
    int64: sample i has the rows offsets[i] to offsets[i + 1] - 1.

    Args:
        most: Rows of a sample at most. Batches keep room for so many, of which only what is used takes memory.
    """

    most: int

    def __post_init__(self) -> None:
        if not 0 < operator.index(self.most) < 1 << 31:
            raise ValueError(f'a ragged dimension has at least one row at most, not {self.most}')


def kind_and_shape(declared: Any) -> tuple[np.dtype[Any], tuple[Any, ...]]:
    """Parses the declaration of a sample's array: a type, or (type, shape)."""
    kind, shape = declared if isinstance(declared, tuple) else (declared, ())
    kind = np.dtype(kind).newbyteorder('=')  # as in batches
    return kind, (shape,) if isinstance(shape, int | Ragged) else tuple(shape)


def _is_ragged(shape: tuple[Any, ...]) -> bool:
    return bool(shape) and isinstance(shape[0], Ragged)


def _most(shape: tuple[Any, ...]) -> tuple[int, ...]:
    return (shape[0].most, *shape[1:]) if _is_ragged(shape) else shape


def _core_array(name: str, declared: Any) -> tuple[str, str, tuple[int, ...], str]:
    kind, shape = kind_and_shape(declared)
    if kind.name not in TYPES:
        raise TypeError(f'array {name!r} is declared as {kind.name}; there are {", ".join(TYPES)}')
    if any(isinstance(extent, Ragged) for extent in shape[1:]):
        raise TypeError(f'array {name!r} is declared as {shape}: only its first dimension can be ragged')
    return name, TYPES[kind.name], _most(shape), 'ragged' if _is_ragged(shape) else 'samples'


@dataclass(frozen=True)
class Declared:
    """A function and the arrays that it returns."""

    call: Callable[[Any], Any]
    arrays: Mapping[str, Any] = field(default_factory=dict)
    stream: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.call):
            raise TypeError(f'{self.call!r} cannot be called')
        self.core_arrays()

    @property
    def name(self) -> str:
        """Name of the function in messages."""
        return str(getattr(self.call, '__qualname__', type(self.call).__name__))

    def core_arrays(self) -> list[tuple[str, str, tuple[int, ...], str]]:
        """Returns name, type, sample shape and kind of rows of each array, for the core."""
        return [_core_array(name, declared) for name, declared in self.arrays.items()]

    def rooms(self) -> list[tuple[int, bool]]:
        """Returns the bytes of a sample, at most, and whether it is ragged, of each array."""
        parsed = [kind_and_shape(declared) for declared in self.arrays.values()]
        return [(kind.itemsize * math.prod(_most(shape)), _is_ragged(shape)) for kind, shape in parsed]

    def checked(self, result: Any) -> list[npt.NDArray[Any]]:
        """Converts the result of a call to the declared arrays, in the order of `arrays`.

        Raises:
            TypeError, ValueError: If the result does not match the declaration.
        """
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
        if _is_ragged(shape):
            if array.ndim != len(shape) or array.shape[1:] != shape[1:]:
                inner = ', '.join(map(str, shape[1:]))
                raise ValueError(f'{who} gave {name!r} of shape {array.shape}, declared is (rows, {inner})')
            if len(array) > shape[0].most:
                raise ValueError(f'{who} gave {name!r} with {len(array)} rows, declared are {shape[0].most} at most')
        elif array.shape != shape:
            raise ValueError(f'{who} gave {name!r} of shape {array.shape}, declared is {shape}')
        if not (np.can_cast(array.dtype, kind, 'safe') or array.dtype.kind == kind.kind == 'f'):
            raise TypeError(f'{who} gave {name!r} as {array.dtype}, declared is {kind.name}: '
                            f'convert it, by .astype("{kind.name}") say')
        return np.ascontiguousarray(array, kind)


@dataclass(frozen=True)
class Function(Declared):
    """A field whose arrays a function returns: `call(sample)` returns a dictionary for one sample.

    Several threads call it (one at a time under the interpreter's lock; concurrently on
    free-threaded Python), or worker processes. The result must depend on the sample only, otherwise
    batches are not reproducible.

    Args:
        call: The function.
        arrays: Returned arrays by name: a type, or (type, shape), such as
            {"boxes": ("float32", (10, 4)), "area": "float32"}. Types: uint8, int32, int64, uint64,
            float16, float32. Batches prepend the batch size to the shape. Where each sample has
            another number of rows, the first dimension is Ragged(most): ("float32", (Ragged(500), 4)).
            Safe casts are made, and float64 is rounded; other casts are errors.
        stream: Functions with the same number draw the same random numbers. Default: the function's
            index in the loader.
        image: An Image field that makes `sample.image`: uint8, cropped, resized, flipped and
            augmented, not normalised.
        audio: An Audio field that makes `sample.audio`: float32, the part that it takes.
    """

    image: _core.ImageField | None = None
    audio: _core.AudioField | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.image, _core.ImageField | None):
            raise TypeError(f'{self.image!r} is not an Image field without `then`')
        if not isinstance(self.audio, _core.AudioField | None):
            raise TypeError(f'{self.audio!r} is not an Audio field without `then`')


@dataclass(frozen=True)
class BatchFunction(Declared):
    """A function on complete batches, which changes their arrays in place.

    Args:
        call: The function. Returns a dictionary of the arrays declared in `arrays`, or None if
            there are none.
        arrays: Added arrays, as in Function, with the shape of one sample; not ragged.
        stream: As in Function.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(ragged for _, ragged in self.rooms()):
            raise TypeError('a batch function cannot add ragged arrays: give them by a Function')
