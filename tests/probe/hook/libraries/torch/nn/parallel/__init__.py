"""Fake of torch.nn.parallel."""
from .distributed import DistributedDataParallel
