# Portable wheels unpacked beside a Python of another machine: of another distribution, or another processor. Sourced by
# scripts that have sourced common.sh.
# shellcheck shell=bash

source "$repository/tools/foreign_packages.sh"

# wheel_of FOLDER TAGS ARCH: the path of the one wheel for them.
wheel_of() { compgen -G "$1/recpack_io-*-$2-*_$3.whl"; }

# unpack_for FOLDER WHEEL VERSION ARCH [ABI]: a wheel's packages and NumPy's, as pip would install them there.
unpack_for() {
  rm -rf "$1"
  python3 -m pip install -q --disable-pip-version-check --target "$1" --only-binary :all: --python-version "$3" ${5:+--abi "$5"} \
    --platform "manylinux_2_28_$4" --platform "manylinux_2_27_$4" --platform "manylinux_2_17_$4" --platform "manylinux2014_$4" "$2"
}

can_have_ubuntu() { [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; }

keyring=ubuntu-keyring_2021.03.26_all.deb
keyring_sha256=0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f

# make_ubuntu ROOT CODENAME [PACKAGE]: a release of it for x86-64, with the tests of this repository.
make_ubuntu() {
  local archive=http://archive.ubuntu.com/ubuntu
  rm -rf "$1" "$1.keyring"
  curl -sSf -o "$1.$keyring" "$archive/pool/main/u/ubuntu-keyring/$keyring" &&
    sha256sum --quiet -c <<<"$keyring_sha256  $1.$keyring" && dpkg-deb -x "$1.$keyring" "$1.keyring" &&
    debootstrap --variant=minbase --keyring="$1.keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg" ${3:+--include="$3"} \
      --components=main,universe "$2" "$1" "$archive" >"$1.log" &&
    mkdir -p "$1/repository" && cp -r "$repository/tests" "$repository/examples" "$1/repository/"
}

# on_ubuntu ROOT COMMAND...: with the wheel unpacked in ROOT/site, and with /proc and /dev/shm that go with the namespace.
on_ubuntu() {
  mkdir -p "$1/dev/shm"
  unshare --mount --pid --fork bash -c 'mount -t proc proc "$0/proc" && mount -t tmpfs shm "$0/dev/shm" && exec chroot "$@"' "$1" "$1" \
    env PYTHONPATH=/repository/tests/interop:/site RECPACK=/site/recpack_io/bin/recpack RECPACK_ENVIRONMENT=ubuntu "${@:2}"
}
