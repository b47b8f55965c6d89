"""Loads WebDataset tars as they are, in random order."""
import torchvision.transforms as T
import webdataset as wds

centre = T.Compose([T.Resize(36), T.CenterCrop(32), T.ToTensor()])
dataset = wds.WebDataset("tars/part-{000..001}.tar", shardshuffle=2).shuffle(1000).decode("pil")
for images, labels in dataset.to_tuple("jpg;png", "cls").map_tuple(centre).batched(2):
    print(tuple(images.shape), labels.tolist())
