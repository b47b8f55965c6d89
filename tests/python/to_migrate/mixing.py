"""Mixup and samplers of train.py."""
import torch


class Mixup:
    """Mixes each sample of a batch with the one before it."""

    def __init__(self, classes, alpha):
        self.classes, self.alpha = classes, alpha

    def __call__(self, images, labels):
        share = float(torch.distributions.Beta(self.alpha, self.alpha).sample())
        targets = torch.nn.functional.one_hot(labels, self.classes).to(images.dtype)
        return (share * images + (1 - share) * images.roll(1, 0), share * targets + (1 - share) * targets.roll(1, 0))


def mixed(alpha, classes):
    return Mixup(classes, alpha) if alpha > 0 else None


class RepeatingSampler(torch.utils.data.Sampler):
    """Each sample several times."""

    def __init__(self, samples, repetitions=3):
        self.samples, self.repetitions = samples, repetitions

    def __iter__(self):
        return iter(torch.randperm(len(self.samples)).repeat_interleave(self.repetitions).tolist())

    def __len__(self):
        return len(self.samples) * self.repetitions
