"""Makes xplane/jax.xplane.pb, a real trace of JAX's profiler of twelve small steps on the CPU.

    python3 make_jax_xplane.py    (with jax installed)
"""

import pathlib
import tempfile

import jax
import jax.numpy as jnp

FOLDER = pathlib.Path(__file__).parent / 'xplane'


def main():
    step = jax.jit(lambda w, x: w - 0.1 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w))
    weights, batch = jnp.ones((64, 64)), jnp.ones((128, 64))
    weights = step(weights, batch)
    with tempfile.TemporaryDirectory() as folder:
        jax.profiler.start_trace(folder)
        for number in range(12):
            with jax.profiler.StepTraceAnnotation('train', step_num=number):
                weights = step(weights, batch).block_until_ready()
        jax.profiler.stop_trace()
        found = list(pathlib.Path(folder).glob('plugins/profile/*/*.xplane.pb'))
        (FOLDER / 'jax.xplane.pb').write_bytes(found[0].read_bytes())


if __name__ == '__main__':
    main()
