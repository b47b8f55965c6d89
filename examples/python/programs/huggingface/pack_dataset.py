"""Packs a data set of Hugging Face with its classes, and loads its images."""
import recpack_io
from datasets import load_dataset

recpack_io.pack(load_dataset('imagefolder', data_dir='photos'), 'photos-shards')
photos = recpack_io.open('photos-shards')
for batch in recpack_io.Loader(photos, 'imagenet-train', batch_size=4):
    print(batch['image'].shape, [photos.class_names[label] for label in batch['label']])
