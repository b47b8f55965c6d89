"""Gives batches to a tf.data pipeline."""
import recpack_io
from recpack_io.tensorflow import Loader

loader = Loader(recpack_io.open("shards"), fields=recpack_io.recipe("cifar10-train", layout="nhwc"), batch_size=16)
for images, labels in loader.as_dataset(as_tuple=True).prefetch(2):
    print(images.shape, labels.shape)
