"""Splits a data set at random into parts for training and validation, which stay the same."""
import recpack_io

parts = recpack_io.open("shards").random_split(0.8, seed=1)
train, validation = (recpack_io.Loader(part, "cifar10-eval", batch_size=8) for part in parts)
seen, held = (set(part.ids.tolist()) for part in parts)
print(f"{len(seen)} and {len(held)} of {len(seen | held)}, {len(seen & held)} in both")
