"""Trains and validates with Lightning, whose checkpoints then have the loaders' states."""
import lightning
import torch
from recpack_io.torch import Loader


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3072, 10)

    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.layer(batch.image.flatten(1)), batch.label)

    def validation_step(self, batch, _):
        right = self.layer(batch.image.flatten(1)).argmax(1) == batch.label
        self.log("accuracy", right.float().mean(), batch_size=len(right))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3)


trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False,
                            enable_model_summary=False)
trainer.fit(Classifier(), Loader("shards", "cifar10-train", batch_size=16),
            Loader("shards", "cifar10-eval", split="eval", batch_size=16, last_batch="keep"))
print(f"{trainer.global_step} steps, accuracy {trainer.callback_metrics['accuracy'].item():.2f}")
