#!/usr/bin/env bash
# Loader, kernels, feeder and trainer on a machine with a GPU, with programs that were built elsewhere.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  cat <<'END'
usage: bench/gpu.sh --build DIR [--photos SHARDS]     where there is a CUDA compiler
       bench/gpu.sh DIR [--out FILE] [--dry-run]      where there is a GPU

--build compiles what is needed into DIR (below 60 MB): programs with archives of their libraries,
and, of libraries that have no archive here, what is shared. DIR is all that the other machine needs
beside this script, python3 and a driver: no network, no compiler. The trainer needs cuDNN 9 and
cuBLAS 13 there: the system's, or those that come with a Python package such as PyTorch.

  --photos SHARDS  packed JPEGs to carry along (a folder of up to 20 MB); without, no row needs them
  --out FILE       results (default: bench/results/gpu-DEVICE.json)
  --dry-run        everything once and shortly, with a device or without, to standard output; it
                   tests this script, and its figures mean nothing

A run takes up to 8 minutes, and up to 10 more where there is PyTorch, whose steps are timed beside
rectrain's. What cannot be measured is "unavailable", with the reason.
END
}

programs=(tools/recpack/recpack bench/pipeline/loader_bench bench/kernels/finish_cuda_bench
  bench/device/feeder_bench tests/kernels/kernels_cuda_tests tests/device/device_cuda_tests
  tools/rectrain/rectrain tests/train/train_cuda_tests)
most_megabytes=60

# The C and C++ libraries are the other machine's own: those of here may be made for newer systems.
system_library='^(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s))\.so'

# newest NAME DIR: the newest version of a library that the programs and libraries in DIR need.
newest() {
  objdump -T "$2"/bin/* "$2"/lib/* | grep -oE "\b$1_[0-9.]+" | sort -Vu | tail -n 1
}

build() {
  local to=$1 work program name path
  mkdir -p "$to/bin" "$to/lib"
  work=$(cd "$to" && pwd)/.build
  cmake -S "$repository" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRECPACK_CUDA=on \
    -DRECPACK_STATIC_DEPENDENCIES=ON -DRECPACK_BUILD_BENCH=ON -DRECPACK_BUILD_TESTS=ON \
    -DRECPACK_MPI=off \
    >"$to/configure.log"
  cmake --build "$work" --parallel "${RECPACK_JOBS:-$(nproc)}" \
    --target recpack_tool loader_bench finish_cuda_bench feeder_bench kernels_cuda_tests \
    device_cuda_tests rectrain_tool train_cuda_tests
  for program in "${programs[@]}"; do
    strip -o "$to/bin/${program##*/}" "$work/$program"
    while read -r name path; do
      if [[ ! $name =~ $system_library ]]; then cp -L "$path" "$to/lib/$name"; fi
    done < <(ldd "$work/$program" | sed -nE 's/^\t(\S+) => (\S+) .*/\1 \2/p')
  done
  find "$to/lib" -size +8M -exec strip {} + -exec xz -3 -T0 -f {} +
  if [ -n "$photos" ]; then
    mkdir -p "$to/photos"
    cp "$photos"/* "$to/photos/"
  fi
  git -C "$repository" describe --always --dirty >"$to/commit"
  rm -rf "$work" "$to/configure.log"
  local size
  size=$(du -sm "$to" | cut -f1)
  echo "gpu: $to holds $size MB; needs $(newest GLIBC "$to") and $(newest GLIBCXX "$to") or newer"
  if [ "$size" -ge "$most_megabytes" ]; then
    echo "gpu: that is more than $most_megabytes MB" >&2
    exit 1
  fi
}

# step NAME SECONDS COMMAND...: runs it within the time; each line of JSON that it prints is a row.
# What fails is a row as well.
step() {
  local name=$1 limit=$2 status=0
  shift 2
  echo "gpu: $name" >&2
  local within=(timeout "$limit")
  if [ "$(type -t "$1")" = function ]; then within=(); fi
  "${within[@]}" "$@" >"$work/out" 2>"$work/err" || status=$?
  python3 - "$name" "$status" "$limit" "$work/out" "$work/err" >>"$work/rows" <<'END'
import json, sys
name, status, limit, out, err = sys.argv[1:]
lines = open(out, errors='replace').read().splitlines()
for line in lines:
    if line.startswith('{'):
        print(json.dumps({'step': name, **json.loads(line)}))
if status != '0':
    why = f'took more than {limit} s' if status == '124' else f'ended with {status}'
    said = open(err, errors='replace').read().splitlines()[-3:]
    print(json.dumps({'step': name, 'failed': ' | '.join([why, *said, *lines[-3:]])}))
END
}

# A program of tests, within the `limit` of its step: a row that counts them.
tests() {
  local status=0
  timeout "$limit" "$@" --gtest_brief=1 --gtest_output="json:$work/tests.json" >"$work/tests.log" 2>&1 || status=$?
  python3 - "$work/tests.json" <<'END' || tail -n 5 "$work/tests.log" >&2
import json, sys
suites = json.load(open(sys.argv[1]))['testsuites']
cases = [case for suite in suites for case in suite['testsuite']]
skipped = sum(case.get('result') == 'SKIPPED' for case in cases)
failed = [f"{case['classname']}.{case['name']}" for case in cases if case.get('failures')]
print(json.dumps({'passed': len(cases) - skipped - len(failed), 'failed_tests': failed,
                  'skipped': skipped}))
END
  return "$status"
}

loader_rows() {
  local threads
  for threads in 1 2 4 8 16; do
    [ "$threads" -le "$(nproc)" ] || continue
    step "loader cifar10-train f32, $threads threads" 60 "$bin/loader_bench" rate "$work/cifar" \
      --recipe cifar10-train --type f32 --threads "$threads" --rounds "$rounds" \
      --samples $((threads * cifar_samples))
    [ -d "$from/photos" ] || continue
    step "loader imagenet-train f32, $threads threads" 60 "$bin/loader_bench" rate "$from/photos" \
      --recipe imagenet-train --type f32 --batch 32 --threads "$threads" --rounds "$rounds" \
      --samples $((threads * photo_samples))
  done
  if [ ! -d "$from/photos" ]; then
    echo '{"step": "loader imagenet-train", "unavailable": "no photos were carried (--photos)"}' \
      >>"$work/rows"
  fi
}

feeder_rows() {
  local type
  for type in f32 f16 bf16 u8; do
    step "feeder check cifar10-train $type" 30 "$bin/feeder_bench" check "$work/cifar" \
      --type "$type" --steps "$steps"
  done
  for type in f32 bf16; do
    step "feeder overlap cifar10-train $type" 40 "$bin/feeder_bench" overlap "$work/cifar" \
      --type "$type" --batch 512 --steps "$steps"
  done
  [ -d "$from/photos" ] || return 0
  step "feeder check imagenet-train bf16" 40 "$bin/feeder_bench" check "$from/photos" \
    --recipe imagenet-train --type bf16 --batch 16 --steps 4
  step "feeder overlap imagenet-train bf16" 60 "$bin/feeder_bench" overlap "$from/photos" \
    --recipe imagenet-train --type bf16 --batch 32 --steps $((steps / 4))
}

# Folders with the libraries of CUDA that Python packages brought.
python_libraries() {
  python3 - <<'END'
import glob, os, sys
folders = {os.path.dirname(path) for root in sys.path for name in ('libcudnn.so.9', 'libcublas.so.13')
           for path in glob.glob(os.path.join(root, 'nvidia', '**', name), recursive=True)}
print(':'.join(sorted(folders)))
END
}

trainer_rows() {
  local libraries type layout norm
  libraries=$(python_libraries)
  local LD_LIBRARY_PATH=$LD_LIBRARY_PATH${libraries:+:$libraries}
  step "tests of the trainer's operations" 150 tests "$bin/train_cuda_tests"
  for type in bf16 f32; do
    for layout in nhwc nchw; do
      for norm in fused unfused; do
        step "rectrain resnet $type $layout $norm" 60 "$bin/rectrain" train "$work/cifar" \
          --devices "$train_device" --type "$type" --layout "$layout" --norm "$norm" --batch-size "$train_batch" \
          --max-steps "$train_steps" --input real,cached,synthetic --timed-steps "$train_steps" \
          --loader-threads "$(nproc)" --no-evaluation --json
      done
    done
  done
}

# Steps as rectrain gives them to the GPU, and PyTorch's: one batch that stays, bf16, channels last.
step_rows() {
  local libraries width graphs steps form
  libraries=$(python_libraries)
  for width in $step_widths; do
    for graphs in off on; do
      for steps in 1 4 16; do
        LD_LIBRARY_PATH=$LD_LIBRARY_PATH${libraries:+:$libraries} \
          step "rectrain step width $width, graphs $graphs, $steps a dispatch" 60 \
          "$bin/rectrain" train "$work/cifar" --devices "$train_device" --type bf16 \
          --width "$width" --batch-size "$train_batch" --epochs 0 --input synthetic,real \
          --timed-steps $((train_steps + 8)) --timed-rounds "$rounds" --cuda-graphs "$graphs" \
          --steps-per-dispatch "$steps" --no-evaluation --json
      done
    done
    for form in plain reduce-overhead max-autotune whole-step; do
      LD_LIBRARY_PATH=$given_libraries step "torch step width $width, $form" 150 python3 \
        "$repository/bench/peers/peer_torch_resnet_cuda.py" "$form" --batch "$train_batch" \
        --width "$width" --reps "$rounds"
    done
  done
}

# Two devices that are parts of the one GPU: strategies, and deepconn placed on one, by towers, and
# in turns.
device_rows() {
  local libraries strategy place
  libraries=$(python_libraries)
  local LD_LIBRARY_PATH=$LD_LIBRARY_PATH${libraries:+:$libraries}
  local both="$train_parts" first=${train_parts%,*} second=${train_parts#*,}
  local timed=(--epochs 0 --input 'real,synthetic' --timed-steps "$train_steps"
    --timed-rounds "$rounds" --loader-threads "$(nproc)" --no-evaluation --json)
  for strategy in replicated distributed_replicated 'parameter_server --variables cpu' \
    'parameter_server --variables device' 'parameter_server --variables spread'; do
    # shellcheck disable=SC2086
    step "rectrain resnet on $both, $strategy" 60 "$bin/rectrain" train "$work/cifar" \
      --devices "$both" --strategy $strategy --type bf16 --batch-size "$train_batch" "${timed[@]}"
  done
  for place in one "user=$first,item=$second" alternate; do
    step "rectrain deepconn placed $place" 60 "$bin/rectrain" train "$work/reviews" \
      --model deepconn --devices "$([ "$place" = one ] && echo "$first" || echo "$both")" \
      --place "$place" --epochs 1 --loader-threads "$(nproc)" --no-evaluation --json
  done
}

report() {
  python3 - "$from" "$work/rows" "$out" "$repository" "$dry_run" <<'END'
import datetime, json, os, platform, re, subprocess, sys
source, rows, out, repository, dry_run = sys.argv[1:]
rows = [json.loads(line) for line in open(rows)]
device = next((row['device'] for row in rows if 'device' in row), None)
def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ''
cpu = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo')
            if line.startswith('model name')), platform.machine())
report = {
    'date': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M UTC'),
    'device': device or 'none',
    'driver': said('nvidia-smi', '--query-gpu=driver_version', '--format=csv,noheader'),
    'cpu': cpu, 'cpus': len(os.sched_getaffinity(0)),
    'commit': open(os.path.join(source, 'commit')).read().strip(),
    'rows': rows,
}
text = '{\n' + ',\n'.join(
    f'  {json.dumps(k)}: {json.dumps(v)}' for k, v in report.items() if k != 'rows')
text += ',\n  "rows": [\n' + ',\n'.join('    ' + json.dumps(row) for row in rows) + '\n  ]\n}\n'
bad = [row['step'] for row in rows if 'failed' in row or row.get('failed_tests')]
if dry_run == 'yes':
    print(text, end='')
else:
    if not out:
        name = re.sub(r'[^a-z0-9]+', '-', (device or 'none').lower()).strip('-')
        out = os.path.join(repository, 'bench', 'results', f'gpu-{name}.json')
    with open(out, 'w') as file:
        file.write(text)
    print(f'gpu: {len(rows)} rows in {out}')
for step in bad:
    print(f'gpu: failed: {step}', file=sys.stderr)
sys.exit(1 if bad else 0)
END
}

build_to='' photos='' from='' out='' dry_run=no
while [ $# -gt 0 ]; do
  case "$1" in
    --build) build_to=${2:?--build needs a folder} && shift ;;
    --photos) photos=${2:?--photos needs a folder} && shift ;;
    --out) out=${2:?--out needs a file} && shift ;;
    --dry-run) dry_run=yes ;;
    --help | -h) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) from=$1 ;;
  esac
  shift
done
if [ -n "$build_to" ]; then
  build "$build_to"
  exit 0
fi
if [ ! -x "$from/bin/feeder_bench" ]; then
  echo "gpu: '$from' is no folder that --build made" >&2
  usage >&2
  exit 2
fi

from=$(cd "$from" && pwd)
bin=$from/bin
work=$(mktemp -d)
mkdir "$work/lib"
for packed in "$from"/lib/*.xz; do
  [ ! -e "$packed" ] || python3 -c 'import lzma, shutil, sys
shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], "wb"))' \
    "$packed" "$work/lib/$(basename "$packed" .xz)"
done
given_libraries=${LD_LIBRARY_PATH-}
export LD_LIBRARY_PATH=$from/lib:$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
trap 'rm -rf "$work"' EXIT
rounds=5 cifar_samples=500000 photo_samples=2000 steps=400 rows=10000 reviews=20000
train_device=cuda:0 train_parts=cuda:0/0,cuda:0/1 train_batch=512 train_steps=40 step_widths='16 64'
if [ "$dry_run" = yes ]; then
  rounds=1 cifar_samples=2000 photo_samples=50 steps=4 rows=500 reviews=300
  train_device=cpu:0 train_parts=cpu:0,cpu:1 train_batch=32 train_steps=1 step_widths=8
fi

: >"$work/rows"
"$bin/recpack" stand-in "$work/pickles" --rows "$rows" >&2
"$bin/recpack" pack "$work/pickles" "$work/cifar" >&2
"$bin/recpack" stand-in "$work/lines" --kind reviews --records "$reviews" >&2
"$bin/recpack" pack "$work/lines" "$work/reviews" --from reviews >&2
loader_rows
step "tests of the kernels" 120 tests "$bin/kernels_cuda_tests"
step "tests of the feeder" 60 tests "$bin/device_cuda_tests"
step "kernels" 90 "$bin/finish_cuda_bench" "$rounds"
feeder_rows
trainer_rows
step_rows
device_rows
report
