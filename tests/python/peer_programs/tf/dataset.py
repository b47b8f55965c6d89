"""Gives batches to a tf.data pipeline."""
import tensorflow as tf

pipeline = tf.keras.utils.image_dataset_from_directory("cifar/train", image_size=(32, 32), batch_size=16)
for images, labels in pipeline:
    print(images.shape, labels.shape)
