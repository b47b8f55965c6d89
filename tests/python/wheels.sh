#!/usr/bin/env bash
# Tests what tools/wheels.sh makes, as users get it: each wheel of x86-64 in bare environments of its Pythons, and on
# Ubuntu 22.04, which Colab runs; and the sdist, by building it. tests/python/foreign_wheels.sh tests the others.
#
#   bash tests/python/wheels.sh [FOLDER]     FOLDER: wheels that are built already (default: they are built)
#
# Ubuntu needs root (for chroot), debootstrap and the network; without them that part is left out, with a line that says
# so. The last line is `N passed, N failed`.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$here/unpacked_wheels.sh"

wheels=${1:-$repository/dist/release}
if [ $# = 0 ]; then check "python: wheels are built" bash "$repository/tools/wheels.sh" --require; fi
work=$repository/build/python/wheels
mkdir -p "$work"
some=(documented reading loading functions threads writing programs)

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
  wheel=$(wheel_of "$wheels" "$tags" x86_64) || continue
  bare=$work/3.$minor
  make_bare "$bare" "${each#* }" "$wheel"
  if [ "$minor" = 11 ]; then tested_bare "$bare"; else tested_bare "$bare" "${some[@]}"; fi
done

# Ubuntu 22.04: glibc 2.35 and Python 3.10.
ubuntu=$work/ubuntu
if can_have_ubuntu; then
  check "python: Ubuntu 22.04" make_ubuntu "$ubuntu" jammy python3
  check "python: Ubuntu 22.04 with the wheel" unpack_for "$ubuntu/site" "$(wheel_of "$wheels" cp310-cp310 x86_64)" 3.10 x86_64
  for name in "${some[@]}"; do
    if [ "$name" = programs ]; then continue; fi  # pip has installed none
    counted "python: $name, Ubuntu 22.04" on_ubuntu "$ubuntu" python3 -B "/repository/tests/python/test_$name.py"
  done
  check "python: recpack, Ubuntu 22.04" on_ubuntu "$ubuntu" /site/recpack_io/bin/recpack --version
  rm -rf "$ubuntu"
else
  echo "NOT TESTED: Ubuntu 22.04, which needs root and debootstrap"
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
