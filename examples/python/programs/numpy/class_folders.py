"""Loads class folders as they are, without packing them."""
import recpack_io

loader = recpack_io.Loader("photos", fields=recpack_io.recipe("imagenet-train", height=32, width=32), batch_size=4)
for batch in loader:
    print(batch["image"].shape, [loader.dataset.class_names[label] for label in batch["label"]])
