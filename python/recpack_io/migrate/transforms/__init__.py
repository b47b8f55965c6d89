"""Transforms of torchvision, as fields of images."""
