"""Draws records by a weight each, as torch's WeightedRandomSampler."""
import numpy as np
import recpack_io

dataset = recpack_io.open("shards")
labels = dataset.column("label")
weights = np.where(labels == 6, 5.0, 1.0)
loader = recpack_io.Loader(dataset.weighted(weights, epoch_samples=2000), "cifar10-train", batch_size=100)
drawn = sum((batch["label"] == 6).sum() for batch in loader)
print(f"class 6: {drawn / 2000:.3f} of the samples, {weights[labels == 6].sum() / weights.sum():.3f} of the weights")
