"""A user's program for PyTorch with one fault on each marked line, for pyright."""
import recpack_io
import torch
from recpack_io.torch import Loader, MapDataset

loader = Loader('shards', 'cifar10-train', batch_size=4, seed=1)
Loader('shards', 'cifar10-train', batch_sise=4)  # error: pyright
Loader('shards', 'cifar10-train', order='windows')  # error: pyright
for batch in loader:
    images: torch.Tensor = batch['image']
    batch['image'].shap  # error: pyright
    ids: torch.Tensor = batch.ids
    epoch: str = batch.epoch  # error: pyright
for first, second in loader:
    same: torch.Tensor = first
    first.shap  # error: pyright
fields = recpack_io.recipe('cifar10-train')
for named in Loader('shards', fields=fields):
    named['image'].shap  # error: pyright
    changed: dict[str, torch.Tensor] = named
for first, second in Loader('shards', fields=fields, as_tuple=True):
    same = first
whole: dict[str, torch.Tensor] = next(iter(Loader('shards', 'cifar10-train')))  # error: pyright
whole = next(iter(Loader('shards', 'cifar10-train', as_tuple=False)))
MapDataset('shards', given='jax')  # error: pyright
