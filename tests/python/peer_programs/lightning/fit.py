"""Trains and validates with Lightning."""
import lightning
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3072, 10)

    def training_step(self, batch, _):
        images, labels = batch
        return torch.nn.functional.cross_entropy(self.layer(images.flatten(1)), labels)

    def validation_step(self, batch, _):
        images, labels = batch
        right = self.layer(images.flatten(1)).argmax(1) == labels
        self.log("accuracy", right.float().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3)


trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False,
                            enable_model_summary=False)
trainer.fit(Classifier(), DataLoader(CIFAR10("cifar", transform=ToTensor()), batch_size=16, shuffle=True),
            DataLoader(CIFAR10("cifar", train=False, transform=ToTensor()), batch_size=16))
print(f"{trainer.global_step} steps, accuracy {trainer.callback_metrics['accuracy'].item():.2f}")
