"""A map-style data set of PyTorch over records, for programs that want torch's own DataLoader."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recpack_io import _core
from recpack_io.errors import InvalidArgumentError
from recpack_io.pictures import GIVEN, USUAL_IMAGES, rgb_of
from recpack_io.reading import opened

if TYPE_CHECKING:
    from recpack_io.options import Given
    from recpack_io.reading import Dataset, Path
    from recpack_io.views import View

_USUAL_LABELS = 'label', 'image/class/label', 'cls'


class MapDataset(torch.utils.data.Dataset):
    """Images and labels of records by number, as torchvision's ImageFolder gives them: (image, label).

    For samplers, Subset and DataLoader of torch, whose workers decode, in Python; a Loader is several
    times faster. Can be pickled, and used in forked workers. A batch's records are read at once.

    Args:
        dataset: Result of recpack_io.open(), a view of it, or a path.
        transform: Function that maps the image, for example a transform of torchvision. Default:
            the image as it is.
        target_transform: Function that maps the label.
        image, label: Features. Default: those with the usual names.
        raw_shape: Channels, height and width of images that are raw planar bytes, such as
            (3, 32, 32) of CIFAR-10.
        given: Kind of the image: "pil", "numpy" (height, width, channels) or "torch" (channels,
            height, width), uint8.
    """

    def __init__(self, dataset: Dataset | View | Path, transform: Callable[[Any], Any] | None = None,
                 target_transform: Callable[[int], Any] | None = None, *, image: str = '', label: str = '',
                 raw_shape: Sequence[int] | None = None, given: Given = 'pil'):
        if given not in GIVEN:
            raise InvalidArgumentError(f'there is no given {given!r}; choose one of {", ".join(GIVEN)}')
        self.dataset, self.transform, self.target_transform = opened(dataset), transform, target_transform
        self._image = [image] if image else USUAL_IMAGES
        self._label = [label] if label else _USUAL_LABELS
        self._raw_shape, self._given = raw_shape, given

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, number: int) -> tuple[Any, Any]:
        return self._sample(self.dataset[int(number)])

    def __getitems__(self, numbers: Sequence[int]) -> list[tuple[Any, Any]]:
        """Returns the samples of a batch; torch's DataLoader calls it."""
        return [self._sample(record) for record in self.dataset[list(map(int, numbers))]]

    @property
    def classes(self) -> list[str]:
        """Names of the classes, from 0."""
        return self.dataset.class_names

    def _sample(self, record: _core.Record) -> tuple[Any, Any]:
        label = int(_feature(record, self._label)[0])
        image = GIVEN[self._given](self._pixels(_feature(record, self._image)))
        return (image if self.transform is None else self.transform(image),
                label if self.target_transform is None else self.target_transform(label))

    def _pixels(self, value: Any) -> np.ndarray:
        if self._raw_shape is not None:
            return value.reshape(self._raw_shape).transpose(1, 2, 0).copy()
        pixels = rgb_of(value)
        return _core.decode_image(value) if pixels is None else pixels


def _feature(record: _core.Record, names: Sequence[str]) -> Any:
    found = next((name for name in names if name in record), None)
    if found is None:
        raise InvalidArgumentError(f'record {record.id} has no feature {names[0]!r}; it has: {", ".join(record)}')
    return record[found]
