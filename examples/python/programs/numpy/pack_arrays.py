"""Packs arrays from memory in two splits, and reads records back."""
import numpy as np
import recpack_io

rng = np.random.default_rng(1)
splits = {split: {"signal": rng.normal(size=(count, 100)).astype("f4"), "name": [f"sample {i}" for i in range(count)],
                  "picture": rng.integers(256, size=(count, 8, 8), dtype="u1"), "label": np.arange(count) % 3}
          for split, count in (("train", 30), ("test", 6))}
recpack_io.pack(splits, "arrays", class_names=["a", "b", "c"])
test = recpack_io.open("arrays", split="test")
print(len(test), test[4]["signal"].shape, test[4]["picture"].shape, test[4]["label"], bytes(test[4]["name"]).decode())
