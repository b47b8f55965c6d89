"""Splits a data set at random into parts for training and validation, which stay the same."""
import recpack_io

dataset = recpack_io.open("shards")
train, validation = dataset.random_split(0.8, seed=1)
batches = recpack_io.Loader(train, "cifar10-train", batch_size=8)
checks = recpack_io.Loader(validation, "cifar10-eval", batch_size=8, last_batch="keep")
seen = {number for batch in batches for number in batch.ids.tolist()}
held = {number for batch in checks for number in batch.ids.tolist()}
print(f"{len(train)} and {len(validation)} of {len(dataset)}, {len(seen & held)} in both")
