"""Gives batches to a tf.data pipeline."""
import recpack_io
import tensorflow as tf
from recpack_io.tensorflow import Loader

loader = Loader(recpack_io.open("shards"), "cifar10-train", batch_size=16)
pipeline = loader.as_dataset().map(lambda batch: (tf.transpose(batch["image"], [0, 2, 3, 1]), batch["label"])).prefetch(2)
for images, labels in pipeline:
    print(images.shape, labels.shape)
