"""Writes small ONNX networks as PyTorch exports them, and their logits, into the folder given.

Each NAME.onnx reads an image of 3 x 16 x 16 and tells 5 classes; NAME.logits has the f32 logits of the image whose
values, channels first, are ((37 * i) % 101) / 50 - 1. Needs PyTorch, onnx and onnxscript.

    residual    norms folded into the convolutions, as the exporter does for evaluation
    norms       the same network with its norms
    external    the same, by the newer exporter, with the weights in external.onnx.data
    flatten     two dense layers after an image of more than one pixel, as VGG has them
"""
import sys
from pathlib import Path

import torch
from torch import nn

SIZE = 16


class Block(nn.Module):
    """A residual block; the shortcut is a convolution where the number of channels changes."""

    def __init__(self, channels, out, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
                                  nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out, eps=1e-3))
        around = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        self.around = nn.Identity() if channels == out else around

    def forward(self, x):
        return torch.relu(self.body(x) + self.around(x))


def residual():
    return nn.Sequential(nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
                         Block(4, 4, 1), Block(4, 6, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 5))


def flatten():
    return nn.Sequential(nn.Conv2d(3, 4, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(4, 3, 3, 1, 1), nn.BatchNorm2d(3),
                         nn.ReLU(), nn.AvgPool2d(2, 2), nn.Flatten(), nn.Linear(48, 7), nn.ReLU(), nn.Dropout(),
                         nn.Linear(7, 5), nn.Softmax(1))


def learn_statistics(network):
    network.train()
    with torch.no_grad():
        for _ in range(5):
            network(torch.randn(8, 3, SIZE, SIZE) * 1.5 + 0.2)
    return network.eval()


def main():
    out = Path(sys.argv[1])
    image = torch.tensor([((37 * i) % 101) / 50 - 1 for i in range(3 * SIZE * SIZE)]).reshape(1, 3, SIZE, SIZE)
    torch.manual_seed(7)
    same = learn_statistics(residual())
    for name, network in (('residual', same), ('norms', same), ('external', same), ('flatten', learn_statistics(flatten()))):
        path = str(out / f'{name}.onnx')
        if name == 'external':
            torch.onnx.export(network, (image,), path, dynamo=True, external_data=True, opset_version=18)
        else:
            kept = name == 'norms'
            mode = torch.onnx.TrainingMode.PRESERVE if kept else torch.onnx.TrainingMode.EVAL
            torch.onnx.export(network, (image,), path, dynamo=False, training=mode, do_constant_folding=not kept,
                              opset_version=17)
        logits = network[:-1] if name == 'flatten' else network
        with torch.no_grad():
            (out / f'{name}.logits').write_bytes(logits(image).numpy().tobytes())


if __name__ == '__main__':
    main()
