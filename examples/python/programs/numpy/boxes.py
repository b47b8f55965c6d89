"""Reads boxes, any number of them in a sample, and crops and mirrors them with their picture."""
import numpy as np
import recpack_io

photo = open("photo.jpg", "rb").read()
rows = np.array([[10, 8, 40, 30], [0, 0, 20, 20]], "f4")  # left, top, right, bottom, in pixels of the photo
recpack_io.pack(({"image": photo, "boxes": rows[: i % 3]} for i in range(12)), "boxed")


def boxes(sample):
    found = sample["boxes"].reshape(-1, 2, 2)
    left, top, width, height = sample.crop
    found = (found - (left, top)) * 32 / (width, height)
    if sample.flip:
        found[..., 0] = 32 - found[:, ::-1, 0]
    padded = np.zeros((5, 4), "f4")
    padded[: len(found)] = found.clip(0, 32).reshape(-1, 4)
    return {"image": sample.image, "boxes": padded, "count": len(found)}


picture = recpack_io.Image(height=32, width=32, crop="random-resized", flip=0.5)
arrays = {"image": ("uint8", (32, 32, 3)), "boxes": ("float32", (5, 4)), "count": "int64"}
field = recpack_io.Function(boxes, arrays, image=picture)
for batch in recpack_io.Loader("boxed", fields=[field], batch_size=4, seed=1):
    print(batch["image"].shape, batch["boxes"].shape, batch["count"].tolist())
