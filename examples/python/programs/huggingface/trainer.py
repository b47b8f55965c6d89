"""Trains with the Trainer of transformers."""
import torch
from recpack_io.huggingface import Trainer
from recpack_io.torch import Loader
from transformers import TrainingArguments


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3072, 10)

    def forward(self, pixel_values, labels):
        logits = self.layer(pixel_values.flatten(1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


arguments = TrainingArguments("run", num_train_epochs=2, per_device_train_batch_size=16, per_device_eval_batch_size=16,
                              report_to=[], disable_tqdm=True, save_strategy="no", use_cpu=True)
train = Loader("shards", "cifar10-train", batch_size=16)
test = Loader("shards", "cifar10-eval", split="eval", batch_size=16, last_batch="keep")
trainer = Trainer(Classifier(), arguments, train_dataset=train, eval_dataset=test)
trainer.train()
print(f"{trainer.state.global_step} steps, evaluation loss {trainer.evaluate()['eval_loss']:.2f}")
