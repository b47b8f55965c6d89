"""Types of arguments: words to choose from, and keyword arguments that are passed on."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from recpack_io._core import Record
    from recpack_io.fields import Field
    from recpack_io.functions import BatchFunction
    from recpack_io.mixing import MixImages
    from recpack_io.selecting import Wanted

# Choices of a loader.
OrderName = Literal['auto', 'global', 'window', 'sequential']
# A window of given sizes: ("window", BLOCK, LANES, WINDOW), as docs/guide/scale.md says.
Order = Union[OrderName, tuple[Literal['window'], int, int, int]]
Share = Literal['samples', 'batches']
LastBatch = Literal['drop', 'pad', 'keep']
Cache = Literal['none', 'records', 'pictures']
OnBadRecord = Literal['fail', 'substitute']
# Begin and end, from 0 to 1; a seed; the feature to hash.
HashRange = Union[tuple[float, float], tuple[float, float, int], tuple[float, float, int, str]]

# Choices of fields.
Crop = Literal['none', 'pad', 'random-resized', 'resize-centre', 'resize']
ImageType = Literal['u8', 'i32', 'f16', 'bf16', 'f32']
ImageLayout = Literal['nchw', 'nhwc']
Interpolation = Literal['bilinear', 'bilinear-no-antialias', 'box', 'nearest']
NumbersType = Literal['i64', 'i32', 'f32']
MultiHotType = Literal['f32', 'u8']
AudioCrop = Literal['start', 'centre', 'random']
Policy = Literal['none', 'randaugment', 'trivialaugment']
Given = Literal['numpy', 'pil', 'torch']

# Choices of writing and packing. '' is the default: detected, or not done.
Compression = Literal['none', 'gzip', 'zlib']
SourceKind = Literal['', 'cifar10', 'cifar100', 'folder', 'imagenet', 'tar', 'list', 'reviews',
                     'tfrecord']
FolderLayout = Literal['', 'splits', 'classes']
Jpeg = Literal['', 'tile']


class LoaderOptionsWithoutFields(TypedDict, total=False):
    """LoaderOptions for a function that has an argument `fields` itself."""

    batch_size: int
    epochs: int
    seed: int
    rank: int | None
    world_size: int | None
    split: str
    subset: ArrayLike | None
    filter: Callable[[Record], Any] | Mapping[str, Wanted] | None
    hash_range: HashRange | None
    balanced: str
    weights: ArrayLike | None
    order: Order
    share: Share
    last_batch: LastBatch
    threads: int
    prefetch: int
    max_live_batches: int
    cache: Cache
    cache_bytes: int
    on_bad_record: OnBadRecord
    max_bad_share: float
    ledger: str | os.PathLike[str]
    audit_counts: bool
    verify: bool
    batch_functions: Sequence[BatchFunction | MixImages | Callable[..., Any]]
    workers: int
    multiprocessing_context: Any


class LoaderOptions(LoaderOptionsWithoutFields, total=False):
    """Keyword arguments of recpack_io.Loader that other loaders pass on to it."""

    fields: Sequence[Field] | None


class ImageOptions(TypedDict, total=False):
    """Keyword arguments of Image(), also of recipe()."""

    feature: str
    raw_shape: Sequence[int]
    raw_layout: ImageLayout
    height: int
    width: int
    pad: int
    resize: int
    area: Sequence[float]
    aspect: Sequence[float]
    crop: Crop
    interpolation: Interpolation
    channels: int
    bits: Literal[8, 16]
    flip: float
    mean: Sequence[float]
    std: Sequence[float]
    type: ImageType
    layout: ImageLayout
    policy: Policy
    erasing: float
    apply_orientation: bool
    allow_damage: bool
    scaled: bool
    view: int


class NumbersOptions(TypedDict, total=False):
    """Keyword arguments of Numbers()."""

    feature: str
    type: NumbersType
    length: int
    ragged: bool
    truncate: bool
    padding: float
    offsets: bool


class BytesOptions(TypedDict, total=False):
    """Keyword arguments of Bytes()."""

    feature: str
    shape: Sequence[int]
    ragged: bool
    truncate: bool
    offsets: bool


class MultiHotOptions(TypedDict, total=False):
    """Keyword arguments of MultiHot(), besides the classes."""

    feature: str
    separator: str
    ignore_unknown: bool
    missing_ok: bool
    type: MultiHotType


class AudioOptions(TypedDict, total=False):
    """Keyword arguments of Audio(), besides the length."""

    feature: str
    crop: AudioCrop
    channels: int
    rate: int
    view: int
