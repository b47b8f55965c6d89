"""Mixes each image with another of its batch (mixup), and their labels."""
import recpack_io

mix = recpack_io.MixImages(classes=10, mixup_alpha=0.4)
for batch in recpack_io.Loader("shards", "cifar10-train", batch_size=16, batch_functions=[mix]):
    print(batch["image"].shape, batch["target"].sum(1).round(4).tolist()[:3])
