"""Fine-tuning loop for a small GPT-2 over packed code that runs the garbage collector after every fourth step.

environment: huggingface; cause: host
"""
import argparse
import gc
import random

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, default_data_collator

NAMES = ["total", "count", "index", "value", "left", "right", "node", "row"]
LINES = [
    "def {a}_of({b}):",
    "    return {a} + {b}",
    "    for {a} in range({b}):",
    "        {a}[{b}] = {b}",
    "    if {a} < {b}:",
    "class {a}:",
]


def write_code(files, seed=0):
    rng = random.Random(seed)
    for _ in range(files):
        lines = [rng.choice(LINES).format(a=rng.choice(NAMES), b=rng.choice(NAMES)) for _ in range(30)]
        yield {"content": "\n".join(lines) + "\n"}


def pack(examples, block):
    stream = []
    for text in examples["content"]:
        stream.extend(text.encode("ascii"))
        stream.append(0)
    length = len(stream) // block * block
    blocks = [stream[i : i + block] for i in range(0, length, block)]
    return {"input_ids": blocks, "labels": [list(b) for b in blocks]}


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--block-size", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--max-train-steps", type=int, default=90)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def release_memory():
    gc.collect()  # planted
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def main():
    args = parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    accelerator = Accelerator(cpu=True)
    raw = Dataset.from_list(list(write_code(args.files, args.seed)))
    packed = raw.map(pack, batched=True, remove_columns=["content"], fn_kwargs={"block": args.block_size})
    packed.set_format("torch")
    loader = torch.utils.data.DataLoader(
        packed, batch_size=args.batch_size, shuffle=True, collate_fn=default_data_collator, drop_last=True
    )
    config = GPT2Config(vocab_size=128, n_positions=args.block_size, n_embd=64, n_layer=2, n_head=4)
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

    accelerator.print(f"{len(packed)} blocks, {sum(p.numel() for p in model.parameters())} parameters")
    model.train()
    for step, batch in enumerate(loader):
        loss = model(**batch).loss
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % 4 == 0:
            release_memory()
        if step % 20 == 0:
            accelerator.print(f"step {step}: loss {loss.item():.4f}")
        if step + 1 == args.max_train_steps:
            break


if __name__ == "__main__":
    main()
