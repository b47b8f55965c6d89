"""Splits a data set at random into parts for training and validation, which stay the same."""
import keras

train, validation = keras.utils.image_dataset_from_directory(
    "cifar/train", image_size=(32, 32), batch_size=8, validation_split=0.2, subset="both", seed=1)
seen, held = set(train.file_paths), set(validation.file_paths)
print(f"{len(seen)} and {len(held)} of {len(seen | held)}, {len(seen & held)} in both")
