"""Makes xplane/cpu.xplane.pb, a real trace of TensorFlow's profiler of twelve small steps on the
CPU, and xplane/gpu.xplane.pb, which is made by the published schema: no GPU was at hand.

    python3 make_xplane.py    (with tensorflow installed)
"""

import os
import pathlib
import tempfile

os.environ['CUDA_VISIBLE_DEVICES'] = ''
import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

FOLDER = pathlib.Path(__file__).parent / 'xplane'
STEPS = 12


def profile_steps(folder):
    images = tf.random.stateless_uniform((64, 8, 8, 3), (1, 2))
    labels = tf.zeros((64,), tf.int64)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(8)
    kernel = tf.Variable(tf.random.stateless_normal((3, 3, 3, 4), (1, 2)) * 0.1)
    weights = tf.Variable(tf.random.stateless_normal((4, 10), (3, 4)) * 0.1)
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build([kernel, weights])

    @tf.function
    def step(batches):
        x, y = next(batches)
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, 'SAME'))
            logits = tf.reduce_mean(hidden, (1, 2)) @ weights
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        gradients = tape.gradient(loss, [kernel, weights])
        optimizer.apply_gradients(zip(gradients, [kernel, weights]))
        return loss

    batches = iter(data)
    step(batches)
    tf.profiler.experimental.start(folder)
    for number in range(STEPS):
        with tf.profiler.experimental.Trace('train', step_num=number, _r=1):
            step(batches)
    tf.profiler.experimental.stop()


def made_gpu():
    """Two steps of a GPU: kernels on two streams, copies, and lines that are derived from these."""
    space = xplane_pb2.XSpace()
    host = space.planes.add(name='/host:CPU')
    host.stat_metadata[1].CopyFrom(xplane_pb2.XStatMetadata(id=1, name='step_num'))
    host.event_metadata[1].CopyFrom(xplane_pb2.XEventMetadata(id=1, name='train'))
    host.event_metadata[2].CopyFrom(
        xplane_pb2.XEventMetadata(id=2, name='dense:MatMul', display_name='MatMul'))
    thread = host.lines.add(id=42, name='python', timestamp_ns=1_780_000_000_000_000_000)
    gpu = space.planes.add(name='/device:GPU:1')
    gpu.stat_metadata[1].CopyFrom(xplane_pb2.XStatMetadata(id=1, name='memcpy_details'))
    gpu.stat_metadata[2].CopyFrom(xplane_pb2.XStatMetadata(
        id=2, name='kind_src:pageable kind_dst:device size:4096 dest:1 async:1'))
    names = ['sm80_xmma_wgrad_implicit_gemm', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 'MemcpyH2D',
             'MemcpyP2P', 'Memset', 'train 0']
    for i, name in enumerate(names, 1):
        gpu.event_metadata[i].CopyFrom(xplane_pb2.XEventMetadata(id=i, name=name))
    compute = gpu.lines.add(id=13, name='Stream #13(Compute)', timestamp_ns=thread.timestamp_ns)
    other = gpu.lines.add(id=20, name='Stream #20(Compute,MemcpyP2P)',
                          timestamp_ns=thread.timestamp_ns)
    derived = gpu.lines.add(id=-1, name='Steps', timestamp_ns=thread.timestamp_ns)
    for number in range(2):
        at = 1_000_000_000 * number  # ps
        event = thread.events.add(metadata_id=1, offset_ps=at, duration_ps=900_000_000)
        event.stats.add(metadata_id=1, int64_value=number)
        thread.events.add(metadata_id=2, offset_ps=at, duration_ps=1_000)
        copy = compute.events.add(metadata_id=3, offset_ps=at, duration_ps=50_000_000)
        copy.stats.add(metadata_id=1, ref_value=2)
        compute.events.add(metadata_id=1, offset_ps=at + 100_000_000, duration_ps=300_000_000)
        compute.events.add(metadata_id=5, offset_ps=at + 500_000_000, duration_ps=1_000_000)
        other.events.add(metadata_id=2, offset_ps=at + 300_000_000, duration_ps=200_000_000)
        peer = other.events.add(metadata_id=4, offset_ps=at + 600_000_000, duration_ps=20_000_000)
        peer.stats.add(metadata_id=1, str_value='kind_src:device size:512 dest:0')
        derived.events.add(metadata_id=6, offset_ps=at, duration_ps=900_000_000)
    return space


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        profile_steps(folder)
        found = list(pathlib.Path(folder).glob('plugins/profile/*/*.xplane.pb'))
        (FOLDER / 'cpu.xplane.pb').write_bytes(found[0].read_bytes())
    (FOLDER / 'gpu.xplane.pb').write_bytes(made_gpu().SerializeToString(deterministic=True))


if __name__ == '__main__':
    main()
