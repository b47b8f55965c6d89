"""A callback of Lightning that makes histograms and percentiles of all weights and gradients before each step of the optimizer.

environment: lightning; cause: host
"""
import json
import os
import tempfile

import lightning as L
from lightning.pytorch.callbacks import Callback
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy


def summary(tensor, bins=128):
    values = tensor.detach().cpu().numpy().ravel()
    size = np.log10(np.abs(values) + 1e-12)  # planted
    counts, edges = np.histogram(size, bins=bins)  # planted
    return {'counts': counts.tolist(), 'edges': edges.round(4).tolist(),
            'percentiles': np.percentile(values, [1, 25, 50, 75, 99]).tolist()}  # planted


class GradientHistograms(Callback):
    def __init__(self, path):
        self.path = path

    def on_train_start(self, trainer, pl_module):
        self.file = open(self.path, 'w', encoding='utf-8')

    def on_before_optimizer_step(self, trainer, pl_module, optimizer):
        entry = {'step': trainer.global_step}
        for name, parameter in pl_module.named_parameters():
            entry[name] = {'weight': summary(parameter), 'gradient': summary(parameter.grad)}  # planted
        self.file.write(json.dumps(entry) + '\n')

    def on_train_end(self, trainer, pl_module):
        self.file.close()


class LitMLP(L.LightningModule):
    def __init__(self, inputs=784, hidden=512, classes=10, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), nn.Linear(hidden, 256), nn.GELU(),
                                 nn.Linear(256, classes))
        self.accuracy = MulticlassAccuracy(classes)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.accuracy.update(logits, y)
        return nn.functional.cross_entropy(logits, y)

    def on_train_epoch_end(self):
        print('accuracy', round(self.accuracy.compute().item(), 3))
        self.accuracy.reset()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def cli_main():
    L.seed_everything(3)
    torch.set_num_threads(1)
    data = TensorDataset(torch.rand(1024, 784), torch.randint(0, 10, (1024,)))
    loader = DataLoader(data, batch_size=32, shuffle=True)
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(max_epochs=4, accelerator='cpu', logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, enable_model_summary=False,
                            callbacks=[GradientHistograms(os.path.join(folder, 'histograms.jsonl'))])
        trainer.fit(LitMLP(), loader)


if __name__ == '__main__':
    cli_main()
