"""A LightningModule whose data set rotates a large picture.

environment: lightning; cause: user function, augment, decode
"""
import numpy
from PIL import Image
import lightning
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Pictures(Dataset):
    picture = Image.fromarray(numpy.full((700, 700, 3), 90, numpy.uint8))

    def __len__(self):
        return 900

    def __getitem__(self, index):
        turned = self.picture.rotate(index % 360, Image.Resampling.BICUBIC)  # planted
        small = numpy.asarray(turned.crop((0, 0, 32, 32)), numpy.float32)
        return torch.from_numpy(small.copy()), index % 10



class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3 * 32 * 32, 10)

    def training_step(self, batch, _):
        image, target = batch
        return torch.nn.functional.cross_entropy(self.layer(image.flatten(1)), target)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def main():
    loader = DataLoader(Pictures(), batch_size=8, num_workers=2)
    trainer = lightning.Trainer(max_epochs=1, accelerator='cpu', logger=False, enable_checkpointing=False,
                                enable_progress_bar=False)
    trainer.fit(Classifier(), loader)


if __name__ == '__main__':
    main()
