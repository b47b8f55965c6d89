"""Reads lists of tokens of any length: padded, truncated, with their lengths."""
import tensorflow as tf

words = {word: number for number, word in enumerate("the cat sat on a mat and slept".split(), 1)}
lines = ["the cat sat", "the cat sat on a mat", "a cat slept", "the cat sat on a mat and slept"] * 2
tokens = tf.ragged.constant([[words[word] for word in line.split()] for line in lines])
for batch in tf.data.Dataset.from_tensor_slices(tokens[:, :6]).batch(4):
    padded = batch.to_tensor(shape=(None, 6)).numpy()
    print(padded.shape, batch.row_lengths().numpy().tolist(), padded[0].tolist())
