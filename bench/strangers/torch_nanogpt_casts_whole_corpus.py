"""Character model in the manner of nanoGPT whose batch generator casts the whole token file before it cuts the blocks.

environment: vision; cause: training thread, user function
"""
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# -----------------------------------------------------------------------------
batch_size = 16
block_size = 64
n_embd = 64
n_head = 4
n_layer = 2
vocab_size = 96
learning_rate = 1e-3
max_iters = 220
log_interval = 40
corpus_tokens = 14_000_000
# -----------------------------------------------------------------------------


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.ln_2 = nn.LayerNorm(n_embd)
        self.qkv = nn.Linear(n_embd, 3 * n_embd)
        self.proj = nn.Linear(n_embd, n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln_1(x)).view(B, T, 3, n_head, C // n_head).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.wpe = nn.Embedding(block_size, n_embd)
        self.blocks = nn.Sequential(*[Block() for _ in range(n_layer)])
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
        logits = self.lm_head(self.blocks(x))
        return F.cross_entropy(logits.view(-1, vocab_size), targets.view(-1))


def prepare(folder):
    rng = np.random.default_rng(1337)
    tokens = rng.integers(0, vocab_size, corpus_tokens, dtype=np.uint16)
    tokens[1::2] = (tokens[::2] + 1) % vocab_size
    tokens.tofile(os.path.join(folder, "train.bin"))


def batches(folder):
    data = np.memmap(os.path.join(folder, "train.bin"), dtype=np.uint16, mode="r")
    while True:
        tokens = torch.from_numpy(data.astype(np.int64))  # planted
        ix = torch.randint(len(tokens) - block_size - 1, (batch_size,))
        x = torch.stack([tokens[i : i + block_size] for i in ix])
        y = torch.stack([tokens[i + 1 : i + 1 + block_size] for i in ix])
        yield x, y


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1337)
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        model = GPT()
        optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95))
        train = batches(folder)
        t0 = time.time()
        for it in range(max_iters):
            x, y = next(train)
            loss = model(x, y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if it % log_interval == 0:
                print(f"iter {it}: loss {loss.item():.4f}, {time.time() - t0:.1f}s elapsed")


if __name__ == "__main__":
    main()
