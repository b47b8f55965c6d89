"""Mixes each image with another of its batch (mixup), and their labels."""
import numpy as np
import recpack_io


def mixup(batch):
    share = batch.rng.beta(0.4, 0.4)
    order = batch.rng.permutation(len(batch["label"]))
    batch["image"][:] = share * batch["image"] + (1 - share) * batch["image"][order]
    classes = np.eye(10, dtype="f4")
    return {"target": share * classes[batch["label"]] + (1 - share) * classes[batch["label"][order]]}


functions = [recpack_io.BatchFunction(mixup, {"target": ("float32", 10)})]
loader = recpack_io.Loader(recpack_io.open("shards"), "cifar10-train", batch_size=16, batch_functions=functions)
for batch in loader:
    print(batch["image"].shape, batch["target"].sum(1).round(4).tolist()[:3])
