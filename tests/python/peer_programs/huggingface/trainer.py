"""Trains with the Trainer of transformers."""
import torch
from torch.utils.data import default_collate
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor
from transformers import Trainer, TrainingArguments


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3072, 10)

    def forward(self, pixel_values, labels):
        logits = self.layer(pixel_values.flatten(1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def collate(samples):
    return dict(zip(("pixel_values", "labels"), default_collate(samples)))


arguments = TrainingArguments("run", num_train_epochs=2, per_device_train_batch_size=16, per_device_eval_batch_size=16,
                              report_to=[], disable_tqdm=True, save_strategy="no", use_cpu=True)
train = CIFAR10("cifar", transform=ToTensor())
test = CIFAR10("cifar", train=False, transform=ToTensor())
trainer = Trainer(Classifier(), arguments, data_collator=collate, train_dataset=train, eval_dataset=test)
trainer.train()
print(f"{trainer.state.global_step} steps, evaluation loss {trainer.evaluate()['eval_loss']:.2f}")
