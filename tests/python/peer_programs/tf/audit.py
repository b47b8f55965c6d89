"""Shows that two ranks together got every record of an epoch once."""
import keras
import numpy as np

dataset = keras.utils.image_dataset_from_directory("cifar/train", image_size=(32, 32), batch_size=None, shuffle=False)
seen = np.zeros(len(dataset), int)
for rank in range(2):
    for numbers, (images, labels) in dataset.enumerate().shard(2, rank).shuffle(100).batch(8):
        seen[numbers] += 1
print(f"{seen.sum()} of {len(dataset)} samples, complete: {np.all(seen == 1)}")
