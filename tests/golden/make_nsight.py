"""Makes nsight/two_gpus.sqlite by the published schema of Nsight Systems' SQLite exports.

    python3 make_nsight.py

It is no real export: none was at hand. Tables, columns, enumerations and the packing of globalTid
are those of https://docs.nvidia.com/nsight-systems/UserGuide/ ("SQLite Schema Reference").
Columns that recprobe does not read are left out, but for a few.
"""

import pathlib
import sqlite3

FOLDER = pathlib.Path(__file__).parent / 'nsight'
PROCESS = 4711
START = 1_780_000_000_000_000_000  # of the session, ns since 1970

SCHEMA = """
PRAGMA page_size = 512;
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
  start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
  start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
  copyKind INTEGER NOT NULL, srcDeviceId INTEGER, dstDeviceId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
  start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL,
  bytes INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
  start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (
  start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER,
  endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
"""

KERNELS = ['sm80_xmma_fprop_implicit_gemm_bf16', 'sm80_xmma_dgrad_implicit_gemm_bf16',
           'sm80_xmma_wgrad_implicit_gemm_bf16', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL']
CALLS = ['cudaLaunchKernel_v7000', 'cudaMemcpyAsync_v3020', 'cudaEventQuery_v3020']


def main():
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / 'two_gpus.sqlite'
    path.unlink(missing_ok=True)
    file = sqlite3.connect(path)
    file.executescript(SCHEMA)
    names = {name: 100 + i for i, name in enumerate(KERNELS + CALLS + ['step'])}
    process = PROCESS << 24
    thread = process | (PROCESS + 1)

    def add(table, *values):
        file.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)

    for name, number in names.items():
        add('StringIds', number, name)
    add('ENUM_CUDA_MEMCPY_OPER', 1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device')
    add('ENUM_CUDA_MEMCPY_OPER', 10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer')
    add('TARGET_INFO_SESSION_START_TIME', START, '', '')
    for gpu in range(2):
        add('TARGET_INFO_GPU', 0, gpu, 'NVIDIA H100')
    for step in range(12):
        at = 1_000_000 * (step + 1)
        # The last one was open when the profiler stopped.
        end = at + 950_000 if step < 11 else None
        add('NVTX_EVENTS', at, end, 59, None, thread, None, names['step'], 0)
        add('CUPTI_ACTIVITY_KIND_RUNTIME', at, at + 5_000, 0, thread, step,
            names['cudaLaunchKernel_v7000'], 0)
        add('CUPTI_ACTIVITY_KIND_RUNTIME', at + 5_000, at + 6_000, 0, thread, step,
            names['cudaEventQuery_v3020'], 0)
        for gpu in range(2):
            begin = at + 10_000 * (gpu + 1)
            add('CUPTI_ACTIVITY_KIND_MEMCPY', begin, begin + 50_000, gpu, 1, 7, step, process,
                1_572_864, 1, None, None)
            for i, length in enumerate([100_000, 200_000, 150_000]):
                kernel = begin + 50_000 + 200_000 * i
                add('CUPTI_ACTIVITY_KIND_KERNEL', kernel, kernel + length, gpu, 1, 7, step, process,
                    names[KERNELS[i]], names[KERNELS[i]])
            # Beside the gradients of weights, on a stream of its own.
            add('CUPTI_ACTIVITY_KIND_KERNEL', begin + 500_000, begin + 700_000, gpu, 1, 20, step,
                process, names[KERNELS[3]], names[KERNELS[3]])
            add('CUPTI_ACTIVITY_KIND_MEMCPY', begin + 700_000, begin + 720_000 + 1_000 * step, gpu, 1,
                7, step, process, 65_536, 10, gpu, 1 - gpu)
            add('CUPTI_ACTIVITY_KIND_MEMSET', begin + 800_000, begin + 801_000, gpu, 1, 7, step,
                process, 0, 4_096)
    add('NVTX_EVENTS', 500_000, None, 34, 'ready', thread, None, None, 0)
    file.commit()
    file.close()


if __name__ == '__main__':
    main()
