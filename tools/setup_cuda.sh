#!/usr/bin/env bash
# Called by tools/setup.sh --cuda: a pinned CUDA toolkit with cuDNN and NCCL, from PyPI's wheels, in
# .cuda, where cmake/RecpackCuda.cmake finds it.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
to=$repository/.cuda

# A set that was tested together. Never in one environment with PyTorch, which brings its own.
wheels=('cuda-toolkit[nvcc,cudart,cccl,cupti,nvml,nvjpeg,nvtx,cublas,crt,nvvm]==13.0.3'
  nvidia-cudnn-cu13==9.19.0.56 nvidia-nccl-cu13==2.28.9)

if [ "$(cat "$to/wheels" 2>/dev/null)" = "${wheels[*]}" ]; then
  echo "setup: CUDA is in $to"
  exit 0
fi
# A compiler that CMake would find, with both libraries' headers, is left as it is.
if nvcc=$(command -v nvcc) && has=$(cd "$(dirname "$(readlink -f "$nvcc")")/.." && pwd) &&
  { [ -e "$has/include/cudnn.h" ] || [ -e /usr/include/cudnn.h ] ||
    [ -e /usr/local/include/cudnn.h ]; } &&
  { [ -e "$has/include/nccl.h" ] || [ -e /usr/include/nccl.h ] ||
    [ -e /usr/local/include/nccl.h ]; }; then
  echo "setup: $nvcc, cuDNN and NCCL are there"
  exit 0
fi
if [ "$(uname -m)" != x86_64 ] && [ "$(uname -m)" != aarch64 ]; then
  echo "setup: there are no CUDA wheels for $(uname -m)" >&2
  exit 1
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "setup: python3 has no pip; tools/setup.sh --for interop brings it" >&2
  exit 1
fi

echo "setup: fetching CUDA, about 1.5 GB, into $to"
rm -rf "$to"
mkdir -p "$to"
python3 -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
  --only-binary :all: --target "$to/site" "${wheels[@]}"

# All in the toolkit's own folder, under the names that compilers and linkers look for.
root=$to/site/nvidia/cu13
for other in cudnn nccl; do
  (cd "$root/include" && ln -s ../../"$other"/include/*.h .)
  (cd "$root/lib" && ln -s ../../"$other"/lib/*.so.* .)
done
(
  cd "$root/lib"
  for library in *.so.*; do
    if [ ! -e "${library%%.so.*}.so" ]; then ln -s "$library" "${library%%.so.*}.so"; fi
  done
)
if [ ! -e "$root/lib64" ]; then ln -s lib "$root/lib64"; fi
ln -s site/nvidia/cu13 "$to/toolkit"
"$to/toolkit/bin/nvcc" --version | tail -n 2
printf '%s\n' "${wheels[*]}" >"$to/wheels"
echo "setup: CUDA is in $to"
