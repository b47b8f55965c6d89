#!/usr/bin/env bash
# Tests recpack against the real programs: TensorFlow, DALI, WebDataset, Pillow with torchvision, the
# safetensors package, rectrain's gradients against PyTorch's, the hook in programs with PyTorch,
# TensorFlow and Grain, recprobe's figures in Prometheus and its dashboard in Grafana's own types, its
# traces in Perfetto, its reports in experiment trackers, Slurm's daemons, and the object stores of moto and rclone, each in an
# environment of its own (bench/peers/setup.sh makes them; about 8 GB).
#
#   bash tests/interop/run.sh [BUILD]     BUILD: the build folder (default: build/release)
#
# RECPACK_IMAGENET_SAMPLE in the environment: a folder of JPEGs whose pixels are compared, too.
#
# The last line is `N passed, N failed`; exits 1 if a test failed, 2 where they cannot be run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../tools/common.sh"
build=$(cd "${1:-$repository/build/release}" && pwd)
export RECPACK=$build/tools/recpack/recpack
export RECPACK_PIXELS=$build/tests/interop/pixels RECPACK_ARRAYS=$build/tests/interop/arrays
export RECPROBE=$build/tools/recprobe/recprobe
export RECTRAIN=$build/tools/rectrain/rectrain RECPACK_GRADIENTS=$build/tests/interop/gradients
for program in "$RECPACK" "$RECPACK_PIXELS" "$RECPACK_ARRAYS"; do
  if [ ! -x "$program" ]; then
    echo "interop: $program is not there: build it first" >&2
    exit 2
  fi
done

venvs=${RECPACK_VENVS:-$repository/.venvs}
bash "$repository/bench/peers/setup.sh" tf dali wds vision safetensors grain prometheus perfetto stores trackers

pairs=(tf:tensorflow dali:dali wds:webdataset vision:pixels vision:recipes safetensors:safetensors
       vision:hook tf:hook grain:hook perfetto:perfetto stores:stores stores:slurm trackers:trackers)
if [ -x "$RECTRAIN" ]; then
  pairs+=(vision:training prometheus:prometheus)
else
  echo "interop: no rectrain was built: its gradients and figures are not compared" >&2
fi
for pair in "${pairs[@]}"; do
  counted "interop: ${pair#*:}" "$venvs/${pair%:*}/bin/python" "$here/test_${pair#*:}.py"
done
finish
