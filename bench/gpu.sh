#!/usr/bin/env bash
# Loader, kernels, feeder, trainer and probe on a machine with a GPU, with programs that were built
# elsewhere.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=bench/gpu/build.sh
source "$repository/bench/gpu/build.sh"

usage() {
  cat <<'END_OF_USAGE'
usage: bench/gpu.sh --build DIR [--photos SHARDS] [--wheel FILE]     where there is a CUDA compiler
       bench/gpu.sh DIR [--out FILE] [--dry-run] [--cifar SHARDS]     where there is a GPU

--build compiles what is needed into DIR (below 60 MB): programs with archives of their libraries,
and, of libraries that have no archive here, what is shared. DIR is all that the other machine needs
beside this repository, python3 and a driver: no network, no compiler. The trainer needs cuDNN 9 and
cuBLAS 13 there, NCCL for its row: the system's, or those that come with a Python package such as
PyTorch.

  --photos SHARDS  packed JPEGs to carry along (a folder of up to 20 MB); without, no row needs them
  --wheel FILE     recpack-io for the other machine's Python: its batches on the device are checked
  --cifar SHARDS   packed CIFAR-10 on that machine: trains the wide network to its accuracy as well,
                   which takes minutes more
  --out FILE       results (default: bench/results/gpu-DEVICE.json)
  --dry-run        everything once and shortly, with a device or without, to standard output; it
                   tests this script, and its figures mean nothing

A run takes at most 8 minutes, and up to 10 more where there is PyTorch, whose steps are timed
beside rectrain's. Groups of rows have seconds of their own. What cannot be measured, or no longer
within them, is "unavailable", with the reason.
END_OF_USAGE
}

# group SECONDS: the rows from here on have so many, of what is left of the run.
group() {
  group_end=$((SECONDS + $1 * patience))
  if [ "$group_end" -gt "$run_end" ]; then group_end=$run_end; fi
}

unavailable() {
  python3 -c 'import json, sys
print(json.dumps({"step": sys.argv[1], "unavailable": sys.argv[2]}))' "$1" "$2" >>"$work/rows"
}

# step NAME SECONDS COMMAND...: runs it within the time; each line of JSON that it prints is a row.
# What fails is a row as well.
step() {
  local name=$1 limit=$(($2 * patience)) status=0 left=$((group_end - SECONDS))
  shift 2
  if [ "$left" -lt 3 ]; then
    unavailable "$name" "the time for rows of its kind was over"
    return
  fi
  if [ "$left" -lt "$limit" ]; then limit=$left; fi
  echo "gpu: $name" >&2
  local within=(timeout "$limit")
  if [ "$(type -t "$1")" = function ]; then within=(); fi
  "${within[@]}" "$@" >"$work/out" 2>"$work/err" || status=$?
  python3 "$repository/bench/gpu/row.py" "$name" "$status" "$limit" "$work/out" "$work/err" \
    >>"$work/rows"
}

# A program of tests, within the `limit` of its step: a row that counts them.
tests() {
  local status=0
  timeout "$limit" "$@" --gtest_brief=1 --gtest_output="json:$work/tests.json" \
    >"$work/tests.log" 2>&1 || status=$?
  if [ -e "$work/tests.json" ]; then
    python3 "$repository/bench/gpu/tests_row.py" "$work/tests.json"
    rm "$work/tests.json"
  else
    tail -n 5 "$work/tests.log" >&2
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

test_rows() {
  step "tests of the kernels" 40 tests "$bin/kernels_cuda_tests"
  step "tests of the feeder" 30 tests "$bin/device_cuda_tests"
  LD_LIBRARY_PATH=$trainer_libraries step "tests of NCCL at world size 1" 20 tests "$bin/nccl_tests"
  LD_LIBRARY_PATH=$trainer_libraries step "tests of the trainer's operations" 80 tests \
    "$bin/train_cuda_tests"
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
        rectrain 20 "resnet $type $layout $norm" --devices "$train_device" --type "$type" \
          --layout "$layout" --norm "$norm" --input real,cached,synthetic
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
          --devices "$train_device" --type bf16 --width "$width" --input synthetic,real \
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
    rectrain 20 "resnet on $both, $strategy" --devices "$both" --strategy $strategy --type bf16 \
      --input real,synthetic
  done
  for place in one "user=$first,item=$second" alternate; do
    LD_LIBRARY_PATH=$trainer_libraries step "rectrain deepconn placed $place" 20 "$bin/rectrain" \
      train "$work/reviews" --model deepconn \
      --devices "$([ "$place" = one ] && echo "$first" || echo "$both")" --place "$place" \
      --epochs 1 --loader-threads "$(nproc)" --no-evaluation --json
  done
  rectrain 20 "resnet, sums by NCCL at world size 1" --devices "$train_device" --type bf16 \
    --input synthetic --collective nccl
  rectrain 20 "resnet, the same without NCCL and graphs" --devices "$train_device" --type bf16 \
    --input synthetic --cuda-graphs off
}

# Runs gpu_bench in the middle of a training from shards.
gpu_busy() {
  local training status=0
  timeout 60 "$bin/rectrain" train "$work/cifar" --devices "$train_device" --type bf16 --width 64 \
    --batch-size "$train_batch" --epochs 1000000 --loader-threads "$(nproc)" --no-evaluation \
    >"$work/busy.log" 2>&1 &
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

# What fraction of a training the GPU computes: by NVML, and by a trace of every kernel.
probe_rows() {
  LD_LIBRARY_PATH=$trainer_libraries step "GPU busy by NVML and GPM, resnet width 64 from shards" \
    40 gpu_busy
  LD_LIBRARY_PATH=$trainer_libraries step "GPU busy by recprobe run --trace, the same" 40 \
    traced_training
}

traced_training() {
  rm -rf "$work/events"
  timeout "$limit" "$bin/recprobe" run --trace --keep "$work/events" -- "$bin/rectrain" train \
    "$work/cifar" --devices "$train_device" --type bf16 --width 64 --batch-size "$train_batch" \
    --max-steps "$traced_steps" --epochs 1000000 --loader-threads "$(nproc)" --no-evaluation \
    >"$work/trace.log" 2>&1 || { tail -n 3 "$work/trace.log" >&2 && return 1; }
  "$bin/recprobe" read "$work/events" --json >"$work/trace.json"
  cat "$work"/events/*-cupti.notice >"$work/notice" 2>/dev/null || true
  python3 "$repository/bench/gpu/trace_row.py" "$work/trace.json" "$work/notice"
}

# PyTorch's steps: one batch that stays, bf16, channels last; and its profiler beside recprobe's
# trace.
torch_rows() {
  local width form wheel
  wheel=$(find "$from" -maxdepth 1 -name '*.whl' | head -n 1)
  if [ -n "$wheel" ]; then
    LD_LIBRARY_PATH=$given_libraries step "recpack_io.torch" 120 python3 \
      "$repository/tests/python/gpu_torch.py" "$wheel"
  else
    unavailable "recpack_io.torch" "no wheel was carried (--wheel)"
  fi
  LD_LIBRARY_PATH=$given_libraries step "recprobe's trace beside PyTorch's profiler" 120 python3 \
    "$repository/bench/probe/trace_beside_torch.py" "$bin/recprobe"
  for width in $step_widths; do
    for form in whole-step plain reduce-overhead max-autotune; do
      LD_LIBRARY_PATH=$given_libraries step "torch step width $width, $form" 150 python3 \
        "$repository/bench/peers/peer_torch_resnet_cuda.py" "$form" --batch "$train_batch" \
        --width "$width" --reps "$rounds"
    done
  done
}

# The wide network to its accuracy, on pictures that this machine has.
accuracy_row() {
  if [ -z "$cifar" ]; then
    unavailable "rectrain resnet width 64, CIFAR-10 accuracy" "no CIFAR-10 was named (--cifar)"
    return
  fi
  LD_LIBRARY_PATH=$trainer_libraries step "rectrain resnet width 64, CIFAR-10 accuracy" 1800 \
    "$bin/rectrain" train "$cifar" --devices "$train_device" --type bf16 --width 64 \
    --batch-size 128 --epochs "$accuracy_epochs" --rate 0.1 --loader-threads "$(nproc)" --json
}

build_to='' photos='' wheel='' cifar='' from='' out='' dry_run=no
while [ $# -gt 0 ]; do
  case "$1" in
    --build) build_to=${2:?--build needs a folder} && shift ;;
    --photos) photos=${2:?--photos needs a folder} && shift ;;
    --wheel) wheel=${2:?--wheel needs a file} && shift ;;
    --cifar) cifar=${2:?--cifar needs a folder} && shift ;;
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
if [ ! -e "$from/files.tar.xz" ]; then
  echo "gpu: '$from' is no folder that --build made" >&2
  usage >&2
  exit 2
fi

from=$(cd "$from" && pwd)
work=$(mktemp -d)
bin=$work/files/bin
python3 -c 'import sys, tarfile
tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$from/files.tar.xz" "$work/files"
given_libraries=${LD_LIBRARY_PATH-}
export LD_LIBRARY_PATH=$work/files/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
trainer_libraries=$(python3 "$repository/bench/gpu/libraries.py")
trainer_libraries=$LD_LIBRARY_PATH${trainer_libraries:+:$trainer_libraries}
trap 'rm -rf "$work"' EXIT
rounds=3 cifar_samples=200000 photo_samples=1000 steps=400 rows=10000 reviews=20000
train_device=cuda:0 train_parts=cuda:0/0,cuda:0/1 train_batch=512 train_steps=48 step_widths='16 64'
busy_after=6 busy_seconds=5 traced_steps=200 accuracy_epochs=30 patience=1
if [ "$dry_run" = yes ]; then
  rounds=1 cifar_samples=2000 photo_samples=50 steps=4 rows=500 reviews=300
  train_device=cpu:0 train_parts=cpu:0,cpu:1 train_batch=32 train_steps=1 step_widths=8
  busy_after=1 busy_seconds=1 traced_steps=1 accuracy_epochs=1
  patience=10  # a processor is slow, and may be shared
fi

: >"$work/rows"
run_end=$((SECONDS + 475 * patience))
"$bin/recpack" stand-in "$work/pickles" --rows "$rows" >&2
"$bin/recpack" pack "$work/pickles" "$work/cifar" >&2
"$bin/recpack" stand-in "$work/lines" --kind reviews --records "$reviews" >&2
"$bin/recpack" pack "$work/lines" "$work/reviews" --from reviews >&2
group 50 && loader_rows
group 130 && test_rows
group 40 && feeder_rows
group 70 && form_rows
group 75 && step_rows
group 60 && device_rows
group 40 && probe_rows
run_end=$((SECONDS + 600 * patience))
group 600 && torch_rows
run_end=$((SECONDS + 1800))
group 1800 && accuracy_row
python3 "$repository/bench/gpu/report.py" "$from" "$work/rows" "$out" "$repository" "$dry_run"
