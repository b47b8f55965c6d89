"""Reads boxes, any number of them in a sample, and crops and mirrors them with their picture."""
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset
from torchvision.io import decode_image
from torchvision.transforms import v2
from torchvision.tv_tensors import BoundingBoxes

ROWS = torch.tensor([[10, 8, 40, 30], [0, 0, 20, 20]])  # left, top, right, bottom, in pixels of the photo
augment = v2.Compose([v2.RandomResizedCrop(32), v2.RandomHorizontalFlip()])


class Boxed(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        photo = decode_image("photo.jpg")
        return augment(photo, BoundingBoxes(ROWS[: index % 3], format="XYXY", canvas_size=photo.shape[-2:]))


def collate(samples):
    photos, boxes = zip(*samples)
    return torch.stack(photos), pad_sequence(boxes, batch_first=True), [len(each) for each in boxes]


for photos, boxes, counts in DataLoader(Boxed(), batch_size=4, shuffle=True, collate_fn=collate):
    print(tuple(photos.shape), tuple(boxes.shape), counts)
