"""Trains a Keras model by fit() on cropped and flipped images, and evaluates it on every sample once."""
import keras
from recpack_io.tensorflow import Loader

train = Loader("shards", "cifar10-train", batch_size=16)
test = Loader("shards", "cifar10-eval", split="eval", batch_size=12, last_batch="pad")
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), weighted_metrics=["accuracy"])
model.fit(train.as_dataset(as_tuple=True), epochs=2, verbose=2)
loss, accuracy = model.evaluate(test.as_dataset("mask", as_tuple=True), verbose=0)
print(f"accuracy {accuracy:.4f} of {len(test.dataset)}")
