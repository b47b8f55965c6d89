"""Keyword spotting with Wav2Vec2 on an Arrow data set whose wave forms come back as lists of Python floats.

environment: huggingface; cause: user function
"""
import numpy as np
import torch
from accelerate import Accelerator
from datasets import Dataset as HFDataset
from datasets import Features, Sequence, Value
from torch.utils.data import DataLoader, Dataset
from transformers import Wav2Vec2Config, Wav2Vec2ForSequenceClassification, get_linear_schedule_with_warmup

RATE = 16_000
SECONDS = 1.0
LABELS = ["up", "down", "left", "right"]


def make_clips(n, seed=42):
    rng = np.random.default_rng(seed)
    time = np.arange(int(RATE * SECONDS)) / RATE
    labels = rng.integers(0, len(LABELS), n)
    waves = []
    for label in labels:
        tone = np.sin(2 * np.pi * (220 + 180 * label) * time + rng.uniform(0, 6))
        waves.append((0.5 * tone + 0.1 * rng.standard_normal(len(time))).astype(np.float32))
    features = Features({"wave": Sequence(Value("float32")), "label": Value("int64")})
    return HFDataset.from_dict({"wave": waves, "label": labels}, features=features)


class KeywordDataset(Dataset):
    def __init__(self, clips):
        self.clips = clips

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        row = self.clips[index]  # planted
        wave = torch.tensor(row["wave"])  # planted
        wave = (wave - wave.mean()) / (wave.std() + 1e-7)
        return {"input_values": wave, "labels": row["label"]}


def tiny_model():
    config = Wav2Vec2Config(
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        conv_dim=(16, 16, 32),
        conv_kernel=(20, 8, 4),
        conv_stride=(20, 8, 4),
        num_feat_extract_layers=3,
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        classifier_proj_size=32,
        num_labels=len(LABELS),
        apply_spec_augment=False,
    )
    return Wav2Vec2ForSequenceClassification(config)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(42)
    accelerator = Accelerator(cpu=True)
    loader = DataLoader(KeywordDataset(make_clips(400)), batch_size=16, shuffle=True)
    model = tiny_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    epochs = 4
    scheduler = get_linear_schedule_with_warmup(optimizer, 10, epochs * len(loader))
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)

    model.train()
    for epoch in range(epochs):
        correct = seen = 0
        for batch in loader:
            output = model(**batch)
            accelerator.backward(output.loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            correct += (output.logits.argmax(-1) == batch["labels"]).sum().item()
            seen += len(batch["labels"])
        accelerator.print(f"epoch {epoch}: loss {output.loss.item():.4f}, accuracy {correct / seen:.3f}")


if __name__ == "__main__":
    main()
