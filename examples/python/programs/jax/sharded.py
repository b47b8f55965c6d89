"""Puts each batch on several devices of JAX, ahead of its use, a part on each."""
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
import jax
from recpack_io.jax import Loader

loader = Loader("shards", "cifar10-train", batch_size=16, device=jax.local_devices())
mean = jax.jit(lambda images: images.mean())
for batch in loader:
    places = {shard.device.id: shard.data.shape for shard in batch["image"].addressable_shards}
    print(f"mean {mean(batch['image']):.3f}, on devices {places}")
