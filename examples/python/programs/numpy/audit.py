"""Proves that two ranks together got every record of an epoch once."""
import recpack_io

dataset = recpack_io.open("shards")
ranks = [recpack_io.Loader(dataset, "cifar10-train", batch_size=8, rank=rank, world_size=2) for rank in range(2)]
for loader in ranks:
    for _ in loader:
        pass
report = ranks[0].audit().merge(ranks[1].audit()).check(dataset)
print(f"{report.samples} of {report.epoch_samples} samples, complete: {report.complete}")
