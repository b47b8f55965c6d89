"""Trains for a number of steps, not of epochs."""
import itertools

from recpack_io.torch import Loader

loader = Loader("shards", "cifar10-train", batch_size=16)
for step, batch in enumerate(itertools.islice(itertools.chain.from_iterable(itertools.repeat(loader)), 10)):
    print(step, batch.epoch, batch.number)
