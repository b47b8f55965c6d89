"""Keeps decoded images in memory, so that later epochs only augment them."""
import tensorflow as tf

photos = tf.keras.utils.image_dataset_from_directory("photos/train", image_size=(40, 40), batch_size=None).cache()
augment = tf.keras.Sequential([tf.keras.layers.RandomCrop(32, 32), tf.keras.layers.RandomFlip("horizontal")])
batches = photos.shuffle(1000).map(lambda image, label: (augment(image, training=True), label)).batch(4)
for epoch in range(3):
    print(f"epoch {epoch}: {sum(1 for _ in batches)} batches")
