"""Crops and flips pictures and their masks alike, for segmentation."""
import tensorflow as tf


def load(path):
    pair = [tf.io.decode_png(tf.io.read_file(each)) for each in (tf.strings.regex_replace(path, "_mask", ""), path)]
    both = tf.image.random_flip_left_right(tf.image.random_crop(tf.concat(pair, 2), (24, 24, 4)))
    return both[..., :3], both[..., 3]


classes = set()
for images, masks in tf.data.Dataset.list_files("masks/*_mask.png").map(load).batch(4):
    classes |= set(masks.numpy().ravel().tolist())
    same = ((images[..., 0] > 127) == (masks > 0)).numpy().mean()
    print(f"{same:.0%} of the pixels agree")
print("classes", sorted(classes))
