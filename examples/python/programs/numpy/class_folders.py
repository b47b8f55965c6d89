"""Loads class folders as they are, without packing them."""
import recpack_io

dataset, fields = recpack_io.open("photos"), recpack_io.recipe("imagenet-train", height=32, width=32)
for batch in recpack_io.Loader(dataset, fields=fields, batch_size=4):
    print(batch["image"].shape, [dataset.class_names[label] for label in batch["label"]])
