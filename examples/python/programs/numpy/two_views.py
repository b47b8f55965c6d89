"""Gives two random views of each image, for contrastive learning."""
import numpy as np
import recpack_io

augmented = {"height": 32, "width": 32, "crop": "random-resized", "flip": 0.5, "policy": "trivialaugment"}
fields = [recpack_io.Image("one", feature="image/encoded", view=1, **augmented),
          recpack_io.Image("two", feature="image/encoded", view=2, **augmented)]
for batch in recpack_io.Loader("photos", fields=fields, batch_size=4, seed=1):
    print(batch["one"].shape, batch["two"].shape, "different" if np.any(batch["one"] != batch["two"]) else "equal")
