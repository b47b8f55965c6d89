"""Makes kineto/cpu.json.gz: a real trace of PyTorch's profiler, of three small steps on the CPU.

    python3 make_kineto.py    (with torch installed)
"""

import gzip
import pathlib
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

FOLDER = pathlib.Path(__file__).parent / "kineto"


def main():
    torch.set_num_threads(1)
    data = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.ones(16, 4)), batch_size=4
    )
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=0, warmup=1, active=3),
            on_trace_ready=lambda p: p.export_chrome_trace(str(path)),
        ) as profiler:
            for (batch,) in data:
                with record_function("forward"):
                    loss = model(batch).sum()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                profiler.step()
        with open(FOLDER / "cpu.json.gz", "wb") as file:
            file.write(gzip.compress(path.read_bytes(), mtime=0))


if __name__ == "__main__":
    main()
