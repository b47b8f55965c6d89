"""Crops and flips pictures and their masks alike, for segmentation."""
import numpy as np
import recpack_io

records = ({"image": f"masks/{i}.png", "mask": f"masks/{i}_mask.png"} for i in range(8))
recpack_io.pack(({name: open(path, "rb").read() for name, path in each.items()} for each in records), "segments")
alike = {"height": 24, "width": 24, "crop": "random-resized", "flip": 0.5, "view": 1, "type": "u8"}
fields = [recpack_io.Image("image", feature="image", **alike),
          recpack_io.Image("mask", feature="mask", channels=1, interpolation="nearest", **alike)]
classes = set()
for batch in recpack_io.Loader(recpack_io.open("segments"), fields=fields, batch_size=4):
    classes |= set(np.unique(batch["mask"]).tolist())
    same = np.mean((batch["image"][:, 0] > 127) == (batch["mask"][:, 0] > 0))
    print(f"{same:.0%} of the pixels agree")
print("classes", sorted(classes))
