"""Applies transforms of torchvision to each image, with the loader's random numbers."""
import recpack_io.torch
import torchvision.transforms as T

augment = T.Compose([T.RandomResizedCrop(32), T.ColorJitter(0.4, 0.4, 0.4), T.RandomHorizontalFlip(), T.ToTensor()])
fields = [recpack_io.Image(then=augment, height=32, width=32), recpack_io.Numbers("label")]
for images, labels in recpack_io.torch.Loader("photos", fields=fields, batch_size=4, seed=1, as_tuple=True):
    print(tuple(images.shape), images.dtype, labels.tolist())
