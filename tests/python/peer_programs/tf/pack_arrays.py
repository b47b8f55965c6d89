"""Packs arrays from memory in two splits, and reads records back."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
for split, count in ("train", 30), ("test", 6):
    records = {"signal": rng.normal(size=(count, 100)).astype("f4"), "name": [f"sample {i}" for i in range(count)],
               "picture": rng.integers(256, size=(count, 8, 8), dtype="u1"), "label": np.arange(count) % 3}
    tf.data.Dataset.from_tensor_slices(records).save(f"arrays/{split}")
dataset = tf.data.Dataset.load("arrays/test")
record = next(dataset.skip(4).as_numpy_iterator())
print(len(dataset), record["signal"].shape, record["picture"].shape, record["label"], record["name"].decode())
