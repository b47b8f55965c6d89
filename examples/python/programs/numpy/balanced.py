"""Samples each class equally often, however many records it has."""
import numpy as np
import recpack_io

dataset = recpack_io.open("shards")
loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=10, balanced="label", last_batch="keep")
counts = sum(np.bincount(batch["label"], minlength=10) for batch in loader)
print("records", np.bincount(dataset.column("label"), minlength=10).tolist())
print("samples", counts.tolist())
