"""Samples each class equally often, however many records it has."""
import numpy as np
import tensorflow as tf

dataset = tf.keras.utils.image_dataset_from_directory("cifar/train", image_size=(32, 32), batch_size=None)
classes = [dataset.filter(lambda image, label: label == number).repeat() for number in range(10)]
batches = tf.data.Dataset.choose_from_datasets(classes, tf.data.Dataset.range(10).repeat(8)).batch(10)
counts = sum(np.bincount(labels, minlength=10) for images, labels in batches)
print("records", np.bincount([label for image, label in dataset], minlength=10).tolist())
print("samples", counts.tolist())
