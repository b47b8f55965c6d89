"""PyTorch: batches as dictionaries of tensors.

    from recpack_io.torch import Loader
    for batch in Loader(recpack_io.open("shards"), "imagenet-train", batch_size=256, seed=1):
        loss = criterion(model(batch["image"]), batch["label"])
"""
from __future__ import annotations

import torch

from recpack_io import loading


def tensors(core) -> dict[str, torch.Tensor]:
    """Tensors over the batch's memory, which they keep."""
    return {name: torch.from_dlpack(core.dlpack(name)) for name in core.keys()}


class Loader(loading.Loader):
    """As recpack_io.Loader; each batch is a dictionary of tensors, without a copy.

    state_dict() and load_state_dict() are those of torch's StatefulDataLoader: a state that was
    taken behind a batch goes on with the next one.
    """

    def __init__(self, dataset, recipe: str | None = None, **options):
        super().__init__(dataset, recipe, batch_type=tensors, **options)
