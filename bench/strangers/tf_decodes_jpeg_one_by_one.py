"""A tf.data map decodes large JPEG files by TensorFlow's own op, one after the other.

environment: tf; cause: decode, user function, too few workers
"""
import argparse
import os
import tempfile

import tensorflow as tf

SIDE = 64


def load(path, label):
    data = tf.io.read_file(path)
    image = tf.io.decode_jpeg(data, channels=3)  # planted
    image = tf.ensure_shape(image[::10, ::10], (SIDE, SIDE, 3))
    image = tf.image.convert_image_dtype(image, tf.float32)
    return tf.image.random_flip_left_right(image), label


def write_pictures(folder, count):
    for number in range(count):
        noise = tf.random.uniform((640, 640, 3), 0, 256, tf.int32)
        tf.io.write_file(os.path.join(folder, f'{number:03}.jpg'),
                         tf.io.encode_jpeg(tf.cast(noise, tf.uint8), quality=90))
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


def make_dataset(paths, labels, batch_size, steps):
    dataset = tf.data.Dataset.from_tensor_slices((paths, labels))
    dataset = dataset.shuffle(len(paths)).repeat()
    dataset = dataset.map(load)  # planted
    return dataset.batch(batch_size, drop_remainder=True).take(steps).prefetch(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch-size', type=int, default=8)
    parser.add_argument('--steps', type=int, default=120)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = write_pictures(folder, 48)
        dataset = make_dataset(paths, [i % 10 for i in range(len(paths))], args.batch_size, args.steps)
        model = tf.keras.Sequential([
            tf.keras.layers.Input((SIDE, SIDE, 3)),
            tf.keras.layers.Conv2D(16, 3, strides=2, activation='relu'),
            tf.keras.layers.Conv2D(32, 3, strides=2, activation='relu'),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(10),
        ])
        model.compile(optimizer='adam', loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(dataset, epochs=1, verbose=2)


if __name__ == '__main__':
    main()
