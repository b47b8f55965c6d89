"""Evaluates on several ranks with equal steps, and counts each sample once."""
import recpack_io

dataset = recpack_io.open("shards", split="eval")
bright = total = 0
for rank in range(3):
    loader = recpack_io.Loader(dataset, "cifar10-eval", batch_size=5, rank=rank, world_size=3, last_batch="pad")
    for batch in loader:
        mask = batch.mask.astype(bool)
        bright += (batch["image"].mean((1, 2, 3)) > 0)[mask].sum()
        total += mask.sum()
print(f"{bright} of {total} are bright; the data set has {len(dataset)}")
