"""Mixes two data sets three to one, exactly."""
import numpy as np
import recpack_io

train, more = recpack_io.open("shards"), recpack_io.open("shards", split="validation")
loader = recpack_io.Loader(recpack_io.Mixture([(train, 3), (more, 1)], period=4), "cifar10-train", batch_size=8)
counts = sum(np.bincount(batch.sources, minlength=2) for batch in loader)
print(f"{counts[0]} samples of the first data set, {counts[1]} of the second")
