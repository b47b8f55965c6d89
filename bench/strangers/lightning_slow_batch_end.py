"""A LightningModule that writes a log to a slow disk at the end of each batch.

environment: lightning; cause: host
"""
import time
import lightning
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3 * 32 * 32, 10)

    def training_step(self, batch, _):
        image, target = batch
        return torch.nn.functional.cross_entropy(self.layer(image.flatten(1)), target)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

    def on_train_batch_end(self, outputs, batch, batch_index):
        time.sleep(0.08)  # planted


def main():
    loader = DataLoader(TensorDataset(torch.rand(800, 3, 32, 32), torch.arange(800) % 10), batch_size=8)
    trainer = lightning.Trainer(max_epochs=1, accelerator='cpu', logger=False, enable_checkpointing=False,
                                enable_progress_bar=False)
    trainer.fit(Classifier(), loader)


if __name__ == '__main__':
    main()
