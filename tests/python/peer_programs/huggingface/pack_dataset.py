"""Loads the images of a data set of Hugging Face, with its classes."""
import torchvision.transforms as T
from datasets import load_dataset
from torch.utils.data import DataLoader

augment = T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ToTensor()])
photos = load_dataset("imagefolder", data_dir="photos", split="train")
photos.set_transform(lambda rows: rows | {"image": [augment(image.convert("RGB")) for image in rows["image"]]})
for batch in DataLoader(photos, batch_size=4, shuffle=True):
    print(tuple(batch["image"].shape), [photos.features["label"].names[label] for label in batch["label"]])
