#!/usr/bin/env bash
# Tests what tools/wheels.sh makes, as users get it: each wheel in bare environments of its Pythons; on Ubuntu 22.04, which
# Colab runs; for aarch64 in an emulator; and the sdist, by building it.
#
#   bash tests/python/wheels.sh [FOLDER]     FOLDER: wheels that are built already (default: they are built)
#
# Ubuntu needs root (for chroot), debootstrap and the network; without them that part is left out, with a line that says
# so. The last line is `N passed, N failed`.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$repository/tools/foreign_packages.sh"

wheels=${1:-$repository/dist/release}
if [ $# = 0 ]; then check "python: wheels are built" bash "$repository/tools/wheels.sh" --require; fi
work=$repository/build/python/wheels
mkdir -p "$work"
some=(documented reading loading functions threads writing programs)

# wheel_of TAGS ARCH: the path of the one wheel for them.
wheel_of() { compgen -G "$wheels/recpack_io-*-$1-*_$2.whl"; }

# Copies of a wheel's packages and NumPy's for another machine, as pip would install them: $1 folder, $2 wheel, $3
# Python's version, $4 architecture.
unpack_for() {
  rm -rf "$1"
  python3 -m pip install -q --disable-pip-version-check --target "$1" --only-binary :all: --python-version "$3" \
    --platform "manylinux_2_28_$4" --platform "manylinux_2_27_$4" --platform "manylinux_2_17_$4" --platform "manylinux2014_$4" "$2"
}

is_small() { [ "$(stat -c %s "$1")" -le 10000000 ]; }
has_no_libraries() { ! unzip -l "$1" | grep -qE '[.]libs/|\.so\.[0-9]'; }
for wheel in "$wheels"/*.whl; do
  name=$(basename "$wheel")
  check "python: $name has at most 10 MB" is_small "$wheel"
  check "python: $name brings no shared libraries" has_no_libraries "$wheel"
  check "python: $name is for glibc 2.28 or older" grep -qE 'manylinux_2_(2[0-8]|1[0-9])_' <<<"$name"
done

# Each x86-64 wheel on each Python that takes it.
mapfile -t pythons < <(bash "$repository/tools/wheel/pythons.sh" 10)
pythons+=("14 $(bash "$here/made_python.sh" 3.14 | tail -n 1)")
for each in "${pythons[@]}"; do
  minor=${each%% *}
  tags=cp312-abi3
  if [ "$minor" -lt 12 ]; then tags=cp3$minor-cp3$minor; fi
  wheel=$(wheel_of "$tags" x86_64) || continue
  bare=$work/3.$minor
  make_bare "$bare" "${each#* }" "$wheel"
  if [ "$minor" = 11 ]; then tested_bare "$bare"; else tested_bare "$bare" "${some[@]}"; fi
done

# Ubuntu 22.04: glibc 2.35 and Python 3.10.
keyring=ubuntu-keyring_2021.03.26_all.deb
keyring_sha256=0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f
make_ubuntu() {
  local archive=http://archive.ubuntu.com/ubuntu
  rm -rf "$work/ubuntu" "$work/keyring"
  curl -sSf -o "$work/$keyring" "$archive/pool/main/u/ubuntu-keyring/$keyring" &&
    sha256sum --quiet -c <<<"$keyring_sha256  $work/$keyring" && dpkg-deb -x "$work/$keyring" "$work/keyring" &&
    debootstrap --variant=minbase --keyring="$work/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg" \
      --include=python3 --components=main,universe jammy "$work/ubuntu" "$archive" >"$work/ubuntu.log" &&
    unpack_for "$work/ubuntu/site" "$(wheel_of cp310-cp310 x86_64)" 3.10 x86_64 &&
    mkdir -p "$work/ubuntu/repository" && cp -r "$repository/tests" "$repository/examples" "$work/ubuntu/repository/"
}
# With a /proc of its own, which goes with the namespace.
on_ubuntu() {
  unshare --mount --pid --fork bash -c 'mount -t proc proc "$0/proc" && exec chroot "$@"' "$work/ubuntu" "$work/ubuntu" \
    env PYTHONPATH=/repository/tests/interop:/site RECPACK=/site/recpack_io/bin/recpack RECPACK_ENVIRONMENT=ubuntu "$@"
}
if [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; then
  check "python: Ubuntu 22.04 with the wheel" make_ubuntu
  for name in "${some[@]}"; do
    if [ "$name" != programs ]; then counted "python: $name, Ubuntu 22.04" on_ubuntu python3 -B "/repository/tests/python/test_$name.py"; fi  # pip has installed none
  done
  check "python: recpack, Ubuntu 22.04" on_ubuntu /site/recpack_io/bin/recpack --version
  rm -rf "$work/ubuntu"
else
  echo "NOT TESTED: Ubuntu 22.04, which needs root and debootstrap"
fi

# aarch64: Debian's Python in an emulator. What starts other programs is left out: they would be of this machine.
emulated() {
  timeout 300 qemu-aarch64 -L "$work/aarch64" -E LD_LIBRARY_PATH="$work/aarch64/usr/lib/aarch64-linux-gnu" \
    -E PYTHONPATH="$repository/tests/interop:$work/aarch64-site" -E RECPACK_ENVIRONMENT=aarch64 -E RECPACK_EMULATED=1 \
    -E RECPACK="$work/3.11/lib/python3.11/site-packages/recpack_io/bin/recpack" "$work/aarch64/usr/bin/python3.11" -B "$@"
}
make_aarch64() {
  if ! [ -e "$work/aarch64/usr/bin/python3.11" ]; then unpack_foreign "$work/aarch64" '^debconf' python3.11 libstdc++6 || return 1; fi
  unpack_for "$work/aarch64-site" "$(wheel_of cp311-cp311 aarch64)" 3.11 aarch64
}
if command -v qemu-aarch64 >/dev/null; then
  check "python: aarch64 with the wheel" make_aarch64
  for name in loading views arguments writing; do counted "python: $name, aarch64" emulated "$here/test_$name.py"; done
  check "python: recpack, aarch64" qemu-aarch64 -L "$work/aarch64" "$work/aarch64-site/recpack_io/bin/recpack" --version
else
  echo "NOT TESTED: aarch64, which needs qemu-user"
fi

# The sdist, by what it has inside: its own script makes a wheel of it, with this machine's libraries.
from_sdist() {
  rm -rf "$work/sdist"
  mkdir -p "$work/sdist"
  tar -xf "$wheels"/recpack_io-*.tar.gz -C "$work/sdist" --strip-components=1
  make_bare "$work/from-sdist" python3 "$(bash "$work/sdist/tools/wheel.sh" "$work/sdist/dist" | tail -n 1)"
}
check "python: a wheel from the sdist" from_sdist
tested_bare "$work/from-sdist" reading loading
rm -rf "$work/sdist" "$work/from-sdist"
finish
