"""Proves that two ranks together got every record of an epoch once."""
import recpack_io

dataset = recpack_io.open("shards")
audits = []
for rank in range(2):
    loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=8, rank=rank, world_size=2)
    for _ in loader:
        pass
    audits.append(loader.audit())
audits[0].merge(audits[1])
report = audits[0].check(dataset)
print(f"{report.samples} of {report.epoch_samples} samples, complete: {report.complete}")
