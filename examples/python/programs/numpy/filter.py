"""Trains on some of the classes, and on the records that a function chooses."""
import recpack_io

dataset = recpack_io.open("shards")
animals = dataset.filter(label=[2, 3, 4, 5, 6, 7])
bright = animals.filter(lambda record: record["image"].mean() > 100)
loader = recpack_io.Loader(bright, "cifar10-train", batch_size=4)
labels = {label for batch in loader for label in batch["label"].tolist()}
print(f"{len(dataset)} records, {len(animals)} animals, {len(bright)} of them bright; labels {sorted(labels)}")
