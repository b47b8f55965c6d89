"""Trains on some of the classes, and on the records that a function chooses."""
import tensorflow as tf

dataset = tf.keras.utils.image_dataset_from_directory("cifar/train", image_size=(32, 32), batch_size=None)
animals = dataset.filter(lambda image, label: 2 <= label and label <= 7)
bright = animals.filter(lambda image, label: tf.reduce_mean(image) > 100)
labels = {label for images, labels in bright.batch(4) for label in labels.numpy().tolist()}
counts = [sum(1 for _ in each) for each in (dataset, animals, bright)]
print(f"{counts[0]} records, {counts[1]} animals, {counts[2]} of them bright; labels {sorted(labels)}")
