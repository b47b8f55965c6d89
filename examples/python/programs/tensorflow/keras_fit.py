"""Trains a Keras model by fit(), and evaluates it on every sample once."""
import recpack_io
import tensorflow as tf
from recpack_io.tensorflow import Loader

fields = recpack_io.recipe("cifar10-train", layout="nhwc")
train = Loader(recpack_io.open("shards"), fields=fields, batch_size=16)
test = Loader(recpack_io.open("shards", split="eval"), fields=recpack_io.recipe("cifar10-eval", layout="nhwc"),
              batch_size=12, last_batch="pad")
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), weighted_metrics=["accuracy"])
model.fit(train.as_dataset().map(lambda batch: (batch["image"], batch["label"])), epochs=2, verbose=2)
masked = test.as_dataset(mask="mask").map(lambda batch: (batch["image"], batch["label"], batch["mask"]))
loss, accuracy = model.evaluate(masked, verbose=0)
print(f"accuracy {accuracy:.4f} of {len(test.dataset)}")
