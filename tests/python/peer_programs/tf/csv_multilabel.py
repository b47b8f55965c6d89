"""Reads a CSV of files with several labels each, and gives them as a vector of zeros and ones."""
import tensorflow as tf

vector = tf.keras.layers.StringLookup(vocabulary=["cat", "dog", "outdoors"], num_oov_indices=0, output_mode="multi_hot")


def load(path, tags, age):
    image = tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (32, 32))
    return image, age, vector(tf.strings.split(tags, "|"))


rows = tf.data.experimental.CsvDataset("list.csv", [tf.string, tf.string, tf.int64], header=True)
for images, ages, tags in rows.map(load).batch(2):
    print(images.shape, ages.numpy().tolist(), tags.numpy().tolist())
