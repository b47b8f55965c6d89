"""Transforms of train.py, in the shape of public reference scripts: classes that choose by their arguments."""
import torch
from torchvision.transforms import InterpolationMode

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def library(newer):
    """The module of transforms, which is imported if it is needed."""
    if newer:
        import torchvision.transforms.v2
        return torchvision.transforms.v2
    import torchvision.transforms
    return torchvision.transforms


class Training:
    def __init__(self, *, side, mean=MEAN, std=STD, interpolation=InterpolationMode.BILINEAR, mirrored=0.5,
                 policy=None, magnitude=9, erased=0.0, kind='pil', newer=False):
        made = library(newer)
        steps = []
        kind = kind.lower()
        if kind == 'tensor':
            steps.append(made.PILToTensor())
        elif kind != 'pil':
            raise ValueError(f'there is no kind {kind}')
        steps.append(made.RandomResizedCrop(side, interpolation=interpolation, antialias=True))
        if mirrored > 0:
            steps.append(made.RandomHorizontalFlip(mirrored))
        if policy is not None:
            if policy == 'rand':
                steps.append(made.RandAugment(interpolation=interpolation, magnitude=magnitude))
            else:
                steps.append(made.AutoAugment(made.AutoAugmentPolicy(policy), interpolation=interpolation))
        if kind == 'pil':
            steps.append(made.PILToTensor())
        steps.extend([made.ToDtype(torch.float, scale=True) if newer else made.ConvertImageDtype(torch.float),
                      made.Normalize(mean=mean, std=std)])
        if erased > 0:
            steps.append(made.RandomErasing(p=erased))
        if newer:
            steps.append(made.ToPureTensor())
        self.steps = made.Compose(steps)

    def __call__(self, image):
        return self.steps(image)


class Evaluation:
    def __init__(self, *, side, shorter=256, mean=MEAN, std=STD, interpolation=InterpolationMode.BILINEAR,
                 kind='pil', newer=False):
        made = library(newer)
        steps = []
        kind = kind.lower()
        if kind == 'tensor':
            steps.append(made.PILToTensor())
        elif kind != 'pil':
            raise ValueError(f'there is no kind {kind}')
        steps += [made.Resize(shorter, interpolation=interpolation, antialias=True), made.CenterCrop(side)]
        if kind == 'pil':
            steps.append(made.PILToTensor())
        steps += [made.ToDtype(torch.float, scale=True) if newer else made.ConvertImageDtype(torch.float),
                  made.Normalize(mean=mean, std=std)]
        self.steps = made.Compose(steps)

    def __call__(self, image):
        return self.steps(image)
