"""Trains a Keras model by fit() on cropped and flipped images, and evaluates it on every sample once."""
import keras

augment = keras.Sequential([keras.layers.ZeroPadding2D(4), keras.layers.RandomCrop(32, 32),
                            keras.layers.RandomFlip("horizontal")])
train = keras.utils.image_dataset_from_directory("cifar/train", image_size=(32, 32), batch_size=16)
test = keras.utils.image_dataset_from_directory("cifar/test", image_size=(32, 32), batch_size=12)
model = keras.Sequential([keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train.map(lambda images, labels: (augment(images, training=True), labels)), epochs=2, verbose=2)
loss, accuracy = model.evaluate(test, verbose=0)
print(f"accuracy {accuracy:.4f} of {len(test.file_paths)}")
