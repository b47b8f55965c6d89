"""Puts each batch on several devices of JAX, ahead of its use, a part on each."""
import grain
import jax
import numpy as np
from torchvision.datasets import CIFAR10

jax.config.update("jax_num_cpu_devices", 4)
parts = jax.NamedSharding(jax.make_mesh((4,), ("batch",)), jax.P("batch"))
batches = grain.MapDataset.source(CIFAR10("cifar", transform=np.asarray)).shuffle(seed=1).batch(16).to_iter_dataset()
mean = jax.jit(lambda images: images.mean())
for images, labels in grain.experimental.device_put(batches, parts):
    places = {shard.device.id: shard.data.shape for shard in images.addressable_shards}
    print(f"mean {mean(images):.3f}, on devices {places}")
