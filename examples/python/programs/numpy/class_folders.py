"""Loads class folders as they are, without packing them."""
import recpack_io

dataset = recpack_io.open("photos")
loader = recpack_io.Loader(dataset, fields=recpack_io.recipe("imagenet-train", height=32, width=32), batch_size=4)
for batch in loader:
    print(batch["image"].shape, [dataset.class_names[label] for label in batch["label"]])
