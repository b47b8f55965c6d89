# shellcheck shell=bash
# Of bench/gpu.sh: compiles what is carried to a machine with a GPU.

# Where the build has them, and what it calls them.
programs=(tools/recpack/recpack bench/loader/loader_bench bench/kernels/finish_cuda_bench
  bench/device/feeder_bench bench/probe/gpu_bench tests/kernels/kernels_cuda_tests
  tests/device/device_cuda_tests tools/rectrain/rectrain tools/recprobe/recprobe
  tests/train/train_cuda_tests tests/train/collectives/nccl_tests tests/interop/gradients)
targets=(recpack_tool loader_bench finish_cuda_bench feeder_bench gpu_bench kernels_cuda_tests
  device_cuda_tests rectrain_tool recprobe_tool train_cuda_tests nccl_tests
  interop_gradients)
most_megabytes=60

# The C and C++ libraries are the other machine's own: those of here may be made for newer systems.
system_library='^(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s))\.so'

# newest NAME DIR: the newest version of a library that the programs and libraries in DIR need.
newest() {
  { objdump -T "$2"/bin/* || true; } 2>/dev/null | grep -oE "\b$1_[0-9.]+" | sort -Vu | tail -n 1
}

# collect DIR: its programs out of .build, without symbols, with the libraries that have no archive
# here.
collect() {
  local to=$1 program name path
  for program in "${programs[@]}"; do
    strip -o "$to/bin/${program##*/}" "$to/.build/$program"
    while read -r name path; do
      if [[ ! $name =~ $system_library ]]; then cp -L "$path" "$to/lib/$name"; fi
    done < <(ldd "$to/.build/$program" | sed -nE 's/^\t(\S+) => (\S+) .*/\1 \2/p')
  done
  # recprobe looks for it beside itself.
  path=$(find "$to/.build" -name 'librecprobe_inject.so' | head -n 1)
  if [ -n "$path" ]; then
    mkdir -p "$to/lib/recpack"
    strip -o "$to/lib/recpack/librecprobe_inject.so" "$path"
  fi
  find "$to/lib" -maxdepth 1 -size +8M -exec strip {} +
}

# pack DIR: what was collected, as the one file that is carried.
pack() {
  tar -C "$1" -cf - bin lib | xz -3 -T0 >"$1/files.tar.xz"
  rm -rf "$1/bin" "$1/lib"
}

# build DIR REPOSITORY PHOTOS WHEEL
build() {
  local to=$1 repository=$2 photos=$3 wheel=$4 size needs
  mkdir -p "$to/bin" "$to/lib"
  to=$(cd "$to" && pwd)
  # Programs find what is carried by themselves, also those that other programs start.
  cmake -S "$repository" -B "$to/.build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRECPACK_CUDA=on \
    -DRECPACK_STATIC_DEPENDENCIES=ON -DRECPACK_BUILD_BENCH=ON -DRECPACK_BUILD_TESTS=ON \
    -DRECPACK_MPI=off -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_BUILD_RPATH=\$ORIGIN/../lib" \
    >"$to/configure.log"
  cmake --build "$to/.build" --parallel "${RECPACK_JOBS:-$(nproc)}" --target "${targets[@]}"
  collect "$to"
  if [ -n "$photos" ]; then
    mkdir -p "$to/photos"
    cp "$photos"/* "$to/photos/"
  fi
  if [ -n "$wheel" ]; then cp "$wheel" "$to/"; fi
  git -C "$repository" describe --always --dirty >"$to/commit"
  needs="$(newest GLIBC "$to") and $(newest GLIBCXX "$to") or newer"
  pack "$to"
  rm -rf "$to/.build" "$to/configure.log"
  size=$(du -sm "$to" | cut -f1)
  echo "gpu: $to holds $size MB; needs $needs"
  if [ "$size" -ge "$most_megabytes" ]; then
    echo "gpu: that is more than $most_megabytes MB" >&2
    exit 1
  fi
}
