"""Reads boxes, any number of them in a sample, and mirrors them with their picture."""
import numpy as np
import recpack_io

photo = open("photo.jpg", "rb").read()
recpack_io.pack(({"image": photo, "boxes": np.linspace(0, 1, 4 * (i % 3), dtype="f4")} for i in range(12)), "boxed")


def boxes(sample):
    found = sample["boxes"].reshape(-1, 4) if "boxes" in sample else np.zeros((0, 4), "f4")
    picture = recpack_io.decode_image(sample["image"])[:32, :32]
    if sample.rng.random() < 0.5:
        picture = picture[:, ::-1]
        found = np.stack([1 - found[:, 2], found[:, 1], 1 - found[:, 0], found[:, 3]], 1)
    padded = np.zeros((5, 4), "f4")
    padded[:len(found)] = found
    return {"image": picture, "boxes": padded, "count": len(found)}


field = recpack_io.Function(boxes, {"image": ("uint8", (32, 32, 3)), "boxes": ("float32", (5, 4)), "count": "int64"})
for batch in recpack_io.Loader(recpack_io.open("boxed"), fields=[field], batch_size=4, seed=1):
    print(batch["image"].shape, batch["boxes"].shape, batch["count"].tolist())
