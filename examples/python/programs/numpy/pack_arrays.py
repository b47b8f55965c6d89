"""Packs arrays from memory in two splits, and reads records back."""
import numpy as np
import recpack_io

rng = np.random.default_rng(1)


def records(count):
    for number in range(count):
        yield {"signal": rng.normal(size=100).astype("f4"), "picture": rng.integers(256, size=(8, 8), dtype="u1"),
               "label": number % 3, "name": f"sample {number}"}


result = recpack_io.pack({"train": records(30), "test": records(6)}, "arrays", class_names=["a", "b", "c"])
dataset = recpack_io.open("arrays", split="test")
record = dataset[4]
print(result.records, len(dataset), dataset.class_names, record["signal"].shape,
      record["picture"].reshape(8, 8).shape, record["label"], record["name"].tobytes().decode())
