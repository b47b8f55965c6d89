"""Loads class folders as they are, without packing them."""
import keras

dataset = keras.utils.image_dataset_from_directory("photos/train", image_size=(32, 32), batch_size=4)
for images, labels in dataset:
    print(images.shape, [dataset.class_names[label] for label in labels])
