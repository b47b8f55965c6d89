"""Splits a data set at random into parts for training and validation, which stay the same."""
import recpack_io

train, validation = recpack_io.open("shards").random_split(0.8, seed=1)
batches = recpack_io.Loader(train, "cifar10-train", batch_size=8)
checks = recpack_io.Loader(validation, "cifar10-eval", batch_size=8, last_batch="keep")
seen, held = set(train.ids.tolist()), set(validation.ids.tolist())
print(f"{len(train)} and {len(validation)} of {len(seen | held)}, {len(seen & held)} in both")
