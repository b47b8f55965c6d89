"""Gives batches to a tf.data pipeline."""
import recpack_io.tensorflow

loader = recpack_io.tensorflow.Loader("shards", fields=recpack_io.recipe("cifar10-train", layout="nhwc"), batch_size=16)
for images, labels in loader.as_dataset(as_tuple=True).prefetch(2):
    print(images.shape, labels.shape)
