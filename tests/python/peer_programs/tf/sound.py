"""Makes spectrograms of random parts of sound files."""
import numpy as np
import tensorflow as tf


def spectrum(sound, label):
    part = tf.image.random_crop(sound[:, 0], [4096])
    return tf.math.log1p(tf.abs(tf.signal.stft(part, 256, 256)[:, :128])), label


sounds = tf.keras.utils.audio_dataset_from_directory("sounds", batch_size=None)
for spectra, labels in sounds.map(spectrum).batch(4):
    peaks = np.mean(spectra, 1).argmax(1) * 8000 // 256
    print([sounds.class_names[label] for label in labels], peaks.tolist())
