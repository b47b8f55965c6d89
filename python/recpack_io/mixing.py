"""Mixing of the images of a batch: mixup and cutmix."""
from __future__ import annotations

import dataclasses

from recpack_io import _core
from recpack_io.arguments import check_kind


@dataclasses.dataclass(frozen=True)
class MixImages:
    """Mixes each image of a batch with the one before it, the first with the last: mixup and cutmix.

    As torchvision's references/classification/transforms.py, by the loader's threads, without
    Python. For a loader's `batch_functions`. Labels stay; batches have one more array, `target`,
    float32 of shape (samples, classes): the share of each class, 1 for the label's if nothing is mixed.

    Partners depend on the batch size and on the number of ranks: a run that is resumed with other
    ones gets the same samples, mixed differently.

    Args:
        classes: Number of classes.
        mixup_alpha, cutmix_alpha: The share of the other image comes from Beta(alpha, alpha). 0:
            not this way. With both, each gets half of the mixed batches.
        probability: Of mixing a batch.
        image, label: Names of the arrays that are mixed.
        target: Name of the added array.
        stream: Mixers and functions with the same number draw the same random numbers. Default:
            the place in `batch_functions`.
    """

    classes: int
    mixup_alpha: float = 0.0
    cutmix_alpha: float = 0.0
    probability: float = 1.0
    image: str = 'image'
    label: str = 'label'
    target: str = 'target'
    stream: int | None = None

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            check_kind('MixImages', each.name, getattr(self, each.name), each.type)

    def core(self, place: int) -> _core.MixImages:
        """Returns it for the core; `place`: the stream if none was given."""
        core = _core.MixImages()
        for each in dataclasses.fields(self):
            if each.name != 'stream':
                setattr(core, each.name, getattr(self, each.name))
        core.stream = place if self.stream is None else self.stream
        return core
