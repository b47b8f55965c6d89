"""Crops and flips pictures and their masks alike, for segmentation."""
from pathlib import Path

from recpack_io import Image, Loader, pack

pack(({"image": Path(f"masks/{i}.png"), "mask": Path(f"masks/{i}_mask.png")} for i in range(8)), "segments")
alike = {"height": 24, "width": 24, "crop": "random-resized", "flip": 0.5, "view": 1, "type": "u8"}
fields = [Image(**alike), Image("mask", feature="mask", channels=1, interpolation="nearest", **alike)]
classes = set()
for batch in Loader("segments", fields=fields, batch_size=4):
    classes |= set(batch["mask"].ravel().tolist())
    same = ((batch["image"][:, 0] > 127) == (batch["mask"][:, 0] > 0)).mean()
    print(f"{same:.0%} of the pixels agree")
print("classes", sorted(classes))
