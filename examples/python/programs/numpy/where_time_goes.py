"""Says which stage of the loader takes the time, and whether the training waited for it."""
import time

import recpack_io

fields = recpack_io.recipe("imagenet-train", height=160, width=160)
loader = recpack_io.Loader("photos", fields=fields, batch_size=4, threads=1)
for _ in range(5):
    for batch in loader:
        time.sleep(0.001)  # the training
stats = loader.stats()
stages = sorted(stats["stages"].items(), key=lambda item: -item[1]["seconds"])
for name, stage in stages[:3]:
    print(f"{name}: {stage['seconds']:.3f} s")
print(f"the training waited {stats['wait_seconds']:.3f} s")
