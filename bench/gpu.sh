#!/usr/bin/env bash
# Loader, kernels, feeder, trainer and probe on a machine with a GPU, with programs that were built
# elsewhere.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=bench/gpu/build.sh
source "$repository/bench/gpu/build.sh"

all_groups=tests,forms,steps,torch,devices,probe,feeder,loader,wheel,accuracy

usage() {
  cat <<END_OF_USAGE
usage: bench/gpu.sh --build DIR [--photos SHARDS] [--wheel FILE]     where there is a CUDA compiler
       bench/gpu.sh DIR [--groups LIST] [--seconds N] [--cifar SRC] [--out FILE] [--dry-run]
                                                                      where there is a GPU

--build compiles what is needed into DIR (below 60 MB): programs with archives of their libraries,
and, of libraries that have no archive here, what is shared. DIR is all that the other machine needs
beside this repository, python3 and a driver: no network, no compiler. The trainer needs cuDNN 9 and
cuBLAS 13 there, NCCL for its row: the system's, or those that come with a Python package such as
PyTorch.

  --photos SHARDS  packed JPEGs to carry along (a folder of up to 20 MB); without, no row needs them
  --wheel FILE     recpack-io for the other machine's Python: its batches on the device are checked
  --groups LIST    rows of these groups, in this order (default: $all_groups).
                   Besides: sanitizer, the trainer's tests under compute-sanitizer
  --seconds N      ends by then: what is left of the groups is "unavailable"
  --cifar SRC      CIFAR-10 on that machine, shards or what recpack pack takes: the group accuracy
                   trains the wide network on it
  --out FILE       results (default: bench/results/gpu-DEVICE.json), and beside them as .log all
                   that programs said. Rows of an earlier run in FILE stay, but for those made anew
  --dry-run        everything once and shortly, with a device or without, to standard output; it
                   tests this script, and its figures mean nothing

Results are written after each group, so that a run which is broken off keeps what it has. Groups of
rows have seconds of their own, about 25 minutes together; half of them are for compiling PyTorch's
steps. What cannot be measured, or no longer within them, is "unavailable", with the reason.
END_OF_USAGE
}

# group NAME SECONDS ROWS: makes rows that have so many seconds, of what is left of the run.
group() {
  group_end=$((SECONDS + $2 * patience))
  if [ "$group_end" -gt "$run_end" ]; then group_end=$run_end; fi
  "$3" || echo "gpu: rows of $1 are missing" >&2
  report || true
}

# Ends with 1 where a row failed.
report() { python3 "$repository/bench/gpu/report.py" "$from" "$work/rows" "$out"; }

unavailable() {
  python3 -c 'import json, sys
print(json.dumps({"step": sys.argv[1], "unavailable": sys.argv[2]}))' "$1" "$2" >>"$work/rows"
}

# step NAME SECONDS COMMAND...: runs it within the time; each line of JSON that it prints is a row.
# What fails is a row as well.
step() {
  local name=$1 limit=$(($2 * patience)) status=0 left=$((group_end - SECONDS)) began=$SECONDS
  shift 2
  if [ "$left" -lt 3 ]; then
    unavailable "$name" "the time for rows of its kind was over"
    return
  fi
  if [ "$left" -lt "$limit" ]; then limit=$left; fi
  echo "gpu: $name" >&2
  local within=(timeout -k 5 "$limit")
  if [ "$(type -t "$1")" = function ]; then within=(); fi
  "${within[@]}" "$@" >"$work/out" 2>"$work/err" || status=$?
  python3 "$repository/bench/gpu/row.py" "$name" "$status" "$limit" "$work/out" "$work/err" \
    >>"$work/rows"
  {
    printf '\n=== %s: %s s, ended with %s: %s\n' "$name" $((SECONDS - began)) "$status" "$*"
    tail -c 200000 "$work/out"
    tail -c 200000 "$work/err"
  } >>"$log"
}

# A program of tests, within the `limit` of its step: a row that counts them.
tests() {
  local status=0
  timeout -k 5 "$limit" "$@" "--gtest_output=json:$work/tests.json" >"$work/said" 2>&1 ||
    status=$?
  if [ -e "$work/tests.json" ]; then
    python3 "$repository/bench/gpu/tests_row.py" "$work/tests.json"
    rm "$work/tests.json"
  fi
  # What failed, and the last one, which may not have ended.
  grep -vE '^\[ +(RUN|OK) ' "$work/said" >&2 || true
  grep -E '^\[ +RUN ' "$work/said" | tail -n 1 >&2 || true
  return "$status"
}

# Gradients of each variable beside those that PyTorch has on the processor.
gradient_tests() {
  local status=0
  RECPACK_GRADIENTS=$bin/gradients RECPACK_GRADIENTS_DEVICE=$gradients_device \
    timeout -k 5 "$limit" python3 "$repository/tests/interop/test_training.py" SameStep \
    >"$work/said" || status=$?
  if [ "$status" = 0 ]; then
    sed -nE 's/^([0-9]+) passed, 0 failed$/{"passed": \1, "failed_tests": []}/p' "$work/said"
  fi
  return "$status"
}

loader_rows() {
  local threads
  for threads in 1 2 4 8 16; do
    if [ "$threads" -gt "$(nproc)" ]; then
      unavailable "loader cifar10-train f32, $threads threads" \
        "this machine has $(nproc) processors"
      continue
    fi
    step "loader cifar10-train f32, $threads threads" 20 "$bin/loader_bench" rate "$work/cifar" \
      --recipe cifar10-train --type f32 --threads "$threads" --rounds "$rounds" \
      --samples $((threads * cifar_samples))
    [ -d "$from/photos" ] || continue
    step "loader imagenet-train f32, $threads threads" 30 "$bin/loader_bench" rate "$from/photos" \
      --recipe imagenet-train --type f32 --batch 32 --threads "$threads" --rounds "$rounds" \
      --samples $((threads * photo_samples))
  done
  [ -d "$from/photos" ] || unavailable "loader imagenet-train" "no photos were carried (--photos)"
}

# What runs at all comes first.
test_rows() {
  local of="$bin/train_cuda_tests"
  LD_LIBRARY_PATH=$trainer_libraries step "rectrain, 30 steps" 60 "$bin/rectrain" train \
    "$work/cifar" --devices "$train_device" --max-steps 30 --batch-size "$train_batch" \
    --no-evaluation --json
  step "tests of the kernels" 60 tests "$bin/kernels_cuda_tests"
  LD_LIBRARY_PATH=$trainer_libraries step "tests of the trainer's operations" 150 tests "$of" \
    '--gtest_filter=*OpsContract*'
  LD_LIBRARY_PATH=$trainer_libraries step "tests of graphs and devices" 60 tests "$of" \
    '--gtest_filter=-*OpsContract*:*ResnetContract*'
  LD_LIBRARY_PATH=$trainer_libraries step "tests of the network" 120 tests "$of" \
    '--gtest_filter=*ResnetContract*'
  LD_LIBRARY_PATH=$trainer_libraries step "gradients beside PyTorch's" 90 gradient_tests
  step "tests of the feeder" 60 tests "$bin/device_cuda_tests"
  LD_LIBRARY_PATH=$trainer_libraries step "tests of NCCL at world size 1" 60 tests "$bin/nccl_tests"
}

# The same under NVIDIA's checkers of memory and of shared memory.
sanitizer_rows() {
  local tool form
  for tool in memcheck racecheck; do
    if ! command -v compute-sanitizer >/dev/null; then
      unavailable "$tool" "there is no compute-sanitizer"
      continue
    fi
    for form in bf16_nhwc f32_nchw; do
      LD_LIBRARY_PATH=$trainer_libraries step "$tool of the trainer's operations, $form" 200 tests \
        compute-sanitizer --tool "$tool" --error-exitcode 9 "$bin/train_cuda_tests" \
        "--gtest_filter=*OpsContract*/$form"
    done
  done
}

feeder_rows() {
  local type
  step "kernels" 30 "$bin/finish_cuda_bench" "$rounds"
  for type in f32 f16 bf16 u8; do
    step "feeder check cifar10-train $type" 15 "$bin/feeder_bench" check "$work/cifar" \
      --type "$type" --steps "$steps"
  done
  for type in f32 bf16; do
    step "feeder overlap cifar10-train $type" 20 "$bin/feeder_bench" overlap "$work/cifar" \
      --type "$type" --batch 512 --steps "$steps"
  done
  [ -d "$from/photos" ] || return 0
  step "feeder check imagenet-train bf16" 20 "$bin/feeder_bench" check "$from/photos" \
    --recipe imagenet-train --type bf16 --batch 16 --steps 4
  step "feeder overlap imagenet-train bf16" 30 "$bin/feeder_bench" overlap "$from/photos" \
    --recipe imagenet-train --type bf16 --batch 32 --steps $((steps / 4))
}

# rectrain SECONDS NAME FLAGS...: times steps of a training on the packed pictures.
rectrain() {
  local limit=$1 name=$2
  shift 2
  LD_LIBRARY_PATH=$trainer_libraries step "rectrain $name" "$limit" "$bin/rectrain" train \
    "$work/cifar" --batch-size "$train_batch" --epochs 0 --timed-steps "$train_steps" \
    --timed-rounds "$rounds" --loader-threads "$(nproc)" --no-evaluation --json "$@"
}

# Types, layouts and normalisation; batches from shards, kept ones, and one that stays.
form_rows() {
  local type layout norm
  for type in bf16 f32; do
    for layout in nhwc nchw; do
      for norm in fused unfused; do
        rectrain 20 "resnet $type $layout $norm" --devices "$train_device" --dtype "$type" \
          --data-format "$layout" --norm "$norm" --input real,cached,synthetic
      done
    done
  done
}

# Steps as rectrain gives them to the GPU: with and without graphs, several a dispatch.
step_rows() {
  local width graphs steps
  for width in $step_widths; do
    for graphs in off on; do
      for steps in 1 4 16; do
        rectrain 15 "step width $width, graphs $graphs, $steps a dispatch" \
          --devices "$train_device" --dtype bf16 --width "$width" --input synthetic,real \
          --cuda-graphs "$graphs" --steps-per-dispatch "$steps"
      done
    done
  done
}

# Two devices that are parts of the one GPU: strategies, and deepconn placed on one, by towers, and
# in turns. NCCL takes one rank a GPU: of this one alone.
device_rows() {
  local strategy place both="$train_parts" first=${train_parts%,*} second=${train_parts#*,}
  for strategy in replicated distributed_replicated 'parameter_server --variables cpu' \
    'parameter_server --variables device' 'parameter_server --variables spread'; do
    # shellcheck disable=SC2086
    rectrain 20 "resnet on $both, $strategy" --devices "$both" --strategy $strategy --dtype bf16 \
      --input real,synthetic
  done
  for place in one "user=$first,item=$second" alternate; do
    LD_LIBRARY_PATH=$trainer_libraries step "rectrain deepconn placed $place" 20 "$bin/rectrain" \
      train "$work/reviews" --model deepconn \
      --devices "$([ "$place" = one ] && echo "$first" || echo "$both")" --place "$place" \
      --epochs 1 --loader-threads "$(nproc)" --no-evaluation --json
  done
  rectrain 20 "resnet, sums by NCCL at world size 1" --devices "$train_device" --dtype bf16 \
    --input synthetic --collective nccl
  rectrain 20 "resnet, the same without NCCL and graphs" --devices "$train_device" --dtype bf16 \
    --input synthetic --cuda-graphs off
}

# Runs gpu_bench in the middle of a training from shards.
gpu_busy() {
  local training status=0
  timeout -k 5 60 "$bin/rectrain" train "$work/cifar" --devices "$train_device" --dtype bf16 \
    --width 64 --batch-size "$train_batch" --epochs 1000000 --loader-threads "$(nproc)" \
    --no-evaluation >"$work/busy.log" 2>&1 &
  training=$!
  sleep "$busy_after"
  "$bin/gpu_bench" --seconds "$busy_seconds" || status=$?
  if ! kill "$training" 2>/dev/null; then
    tail -n 3 "$work/busy.log" >&2
    status=1
  fi
  wait "$training" 2>/dev/null || true
  return "$status"
}

# What fraction of a training the GPU computes: by NVML, and by a trace of every kernel; and that
# trace beside PyTorch's profiler.
probe_rows() {
  LD_LIBRARY_PATH=$trainer_libraries step "GPU busy by NVML and GPM, resnet width 64 from shards" \
    60 gpu_busy
  LD_LIBRARY_PATH=$trainer_libraries step "GPU busy by recprobe run --trace, the same" 60 \
    traced_training
  LD_LIBRARY_PATH=$given_libraries step "recprobe's trace beside PyTorch's profiler" 120 python3 \
    "$repository/bench/probe/trace_beside_torch.py" "$bin/recprobe"
}

traced_training() {
  rm -rf "$work/events"
  timeout -k 5 "$limit" "$bin/recprobe" run --trace --keep "$work/events" -- "$bin/rectrain" train \
    "$work/cifar" --devices "$train_device" --dtype bf16 --width 64 --batch-size "$train_batch" \
    --max-steps "$traced_steps" --epochs 1000000 --loader-threads "$(nproc)" --no-evaluation \
    >"$work/trace.log" 2>&1 || { tail -n 3 "$work/trace.log" >&2 && return 1; }
  "$bin/recprobe" read "$work/events" --json >"$work/trace.json"
  cat "$work"/events/*-cupti.notice >"$work/notice" 2>/dev/null || true
  python3 "$repository/bench/gpu/trace_row.py" "$work/trace.json" "$work/notice"
}

# PyTorch's steps: one batch that stays, bf16, channels last. The likely best first.
torch_rows() {
  local width form
  for form in whole-step reduce-overhead plain whole-step-autotuned max-autotune; do
    for width in $step_widths; do
      LD_LIBRARY_PATH=$given_libraries step "torch step width $width, $form" 200 python3 \
        "$repository/bench/peers/peer_torch_resnet_cuda.py" "$form" --batch "$train_batch" \
        --width "$width" --reps "$rounds"
    done
  done
}

wheel_row() {
  local wheel
  wheel=$(find "$from" -maxdepth 1 -name '*.whl' | head -n 1)
  if [ -n "$wheel" ]; then
    LD_LIBRARY_PATH=$given_libraries step "recpack_io.torch" 120 python3 \
      "$repository/tests/python/gpu_torch.py" "$wheel"
  else
    unavailable "recpack_io.torch" "no wheel was carried (--wheel)"
  fi
}

# The wide network to its accuracy, on pictures that this machine has.
accuracy_row() {
  local name="rectrain resnet width 64, CIFAR-10 accuracy" shards=$cifar
  if [ -z "$cifar" ]; then
    unavailable "$name" "no CIFAR-10 was named (--cifar)"
    return
  fi
  if ! compgen -G "$cifar/*.tfrecord" >/dev/null; then
    shards=$work/cifar10
    step "CIFAR-10, packed" 60 "$bin/recpack" pack "$cifar" "$shards" --splits train,test
  fi
  LD_LIBRARY_PATH=$trainer_libraries step "$name" 540 "$bin/rectrain" train "$shards" --devices \
    "$train_device" --dtype bf16 --width 64 --batch-size 128 --epochs "$accuracy_epochs" --lr 0.1 \
    --loader-threads "$(nproc)" --json
}

build_to='' photos='' wheel='' cifar='' from='' out='' dry_run=no groups=$all_groups seconds=100000
while [ $# -gt 0 ]; do
  case "$1" in
    --build) build_to=${2:?--build needs a folder} && shift ;;
    --photos) photos=${2:?--photos needs a folder} && shift ;;
    --wheel) wheel=${2:?--wheel needs a file} && shift ;;
    --cifar) cifar=${2:?--cifar needs a folder} && shift ;;
    --groups) groups=${2:?--groups needs a list} && shift ;;
    --seconds) seconds=${2:?--seconds needs a number} && shift ;;
    --out) out=${2:?--out needs a file} && shift ;;
    --dry-run) dry_run=yes ;;
    --help | -h) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) from=$1 ;;
  esac
  shift
done
if [ -n "$build_to" ]; then
  build "$build_to" "$repository" "$photos" "$wheel"
  exit 0
fi
for name in ${groups//,/ }; do
  if [[ ,$all_groups,sanitizer, != *,$name,* ]]; then
    echo "gpu: there is no group '$name'" >&2
    exit 2
  fi
done
if [ ! -e "$from/files.tar.xz" ]; then
  echo "gpu: '$from' is no folder that --build made" >&2
  usage >&2
  exit 2
fi

from=$(cd "$from" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$work/files/bin
python3 -c 'import sys, tarfile
tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$from/files.tar.xz" "$work/files"
given_libraries=${LD_LIBRARY_PATH-}
export LD_LIBRARY_PATH=$work/files/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
trainer_libraries=$(python3 "$repository/bench/gpu/libraries.py")
trainer_libraries=$LD_LIBRARY_PATH${trainer_libraries:+:$trainer_libraries}
rounds=3 cifar_samples=200000 photo_samples=1000 steps=400 rows=10000 reviews=20000
train_device=cuda:0 train_parts=cuda:0/0,cuda:0/1 train_batch=512 train_steps=48 step_widths='16 64'
busy_after=12 busy_seconds=5 traced_steps=200 accuracy_epochs=30 patience=1 gradients_device=cuda
if [ "$dry_run" = yes ]; then
  rounds=1 cifar_samples=2000 photo_samples=50 steps=4 rows=500 reviews=300
  train_device=cpu:0 train_parts=cpu:0,cpu:1 train_batch=32 train_steps=1 step_widths=8
  busy_after=1 busy_seconds=1 traced_steps=1 accuracy_epochs=1 gradients_device=cpu
  patience=10  # a processor is slow, and may be shared
  out=$work/results.json
fi
out=${out:-$repository/bench/results/gpu-$(python3 "$repository/bench/gpu/report.py").json}
log=${out%.json}.log

: >"$work/rows"
run_end=$seconds
"$bin/recpack" stand-in "$work/pickles" --rows "$rows" >&2
"$bin/recpack" pack "$work/pickles" "$work/cifar" >&2
"$bin/recpack" stand-in "$work/lines" --kind reviews --records "$reviews" >&2
"$bin/recpack" pack "$work/lines" "$work/reviews" --from reviews >&2
for name in ${groups//,/ }; do
  case "$name" in
    tests) group "$name" 300 test_rows ;;
    forms) group "$name" 100 form_rows ;;
    steps) group "$name" 120 step_rows ;;
    torch) group "$name" 600 torch_rows ;;
    devices) group "$name" 90 device_rows ;;
    probe) group "$name" 200 probe_rows ;;
    feeder) group "$name" 60 feeder_rows ;;
    loader) group "$name" 60 loader_rows ;;
    wheel) group "$name" 120 wheel_row ;;
    accuracy) group "$name" 600 accuracy_row ;;
    sanitizer) group "$name" 600 sanitizer_rows ;;
  esac
done
if [ "$dry_run" = yes ]; then cat "$out"; fi
report
