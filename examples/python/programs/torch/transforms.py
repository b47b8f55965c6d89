"""Applies transforms of torchvision to each image, with the loader's random numbers."""
import recpack_io
from recpack_io.torch import Loader
from torchvision import transforms

augment = transforms.Compose([transforms.RandomResizedCrop(32), transforms.ColorJitter(0.4, 0.4, 0.4),
                              transforms.RandomHorizontalFlip(), transforms.ToTensor()])
fields = [recpack_io.Image(then=augment, height=32, width=32), recpack_io.Numbers("label", feature="image/class/label")]
for images, labels in Loader(recpack_io.open("photos"), fields=fields, batch_size=4, seed=1, as_tuple=True):
    print(tuple(images.shape), images.dtype, labels.tolist())
