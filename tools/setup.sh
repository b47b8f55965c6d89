#!/usr/bin/env bash
# Installs what building and testing recpack needs and this machine does not have.
set -euo pipefail

usage() {
  cat <<'END'
usage: tools/setup.sh [--for SETS] [--cuda] [--list] [--help]

Installs what is missing through apt (as root, or through sudo) on Debian 12, Ubuntu 24.04 or newer.
Installs nothing, and is done at once, where all is there. Needs no GPU and no CUDA.

  --for SETS  what to prepare for, separated by commas (default: build,test)
                build    compiler, CMake and the libraries; oneDNN 3, from PyPI in .onednn (39 MB), where
                         apt's is older
                test     GoogleTest, Python
                mpi      Open MPI, for training by the processes of an MPI job
                demo     download of the data set
                interop  Python environments for other programs' packages, Java for Spark's, network
                         namespaces as hosts of a cluster, and Slurm
                site     the site of the documents: doxygen
                wheel    the wheel of the Python package, by Debian's own Python
                ci       clang and its tools, a cross compiler and an emulator for aarch64, what portable
                         wheels are built and tested with, more shells,
                         Chromium for the tests of report.html (not where apt has it as a snap only)
                all      all of these
  --cuda      also a pinned CUDA toolkit with cuDNN and NCCL, from PyPI, in .cuda (about 2 GB), where
              there is none; CMake finds it there. Without CUDA everything builds and runs on the host
  --list      print the packages, one a line, and stop
END
}

packages_of() {
  case "$1" in
    build)
      echo build-essential cmake ninja-build ccache pkg-config \
        libfmt-dev libssl-dev zlib1g-dev libisal-dev libprotobuf-dev protobuf-compiler \
        libjpeg-dev libpng-dev libwebp-dev libavif-dev libtiff-dev nlohmann-json3-dev libarchive-dev libcli11-dev libcurl4-openssl-dev liburing-dev \
        libzstd-dev liblzma-dev libbz2-dev python3
      ;;
    test) echo libgtest-dev libgmock-dev python3 ;;
    mpi) echo libopenmpi-dev openmpi-bin ;;
    demo) echo curl ca-certificates ;;
    interop) echo python3-venv ca-certificates default-jre-headless iproute2 munge slurmctld slurmd slurm-client ;;
    wheel) echo python3-dev python3-venv ca-certificates ;;
    site) echo doxygen python3-venv ca-certificates ;;
    ci) echo git clang clang-format clang-tidy libclang-rt-dev g++-aarch64-linux-gnu qemu-user \
        nasm advancecomp curl unzip debootstrap libffi-dev zsh fish $(has_chromium && echo chromium) ;;
    *)
      echo "setup: unknown set '$1'; choose from build, test, mpi, demo, interop, wheel, site, ci, all" >&2
      exit 2
      ;;
  esac
}

# Ubuntu's package of this name only starts a snap, which containers cannot.
has_chromium() { ! grep -q '^ID=ubuntu' /etc/os-release 2>/dev/null; }

# Prints those of its arguments that dpkg does not know as installed.
missing_of() {
  local installed
  installed=$(dpkg-query -W -f='${db:Status-Status} ${binary:Package}\n' 2>/dev/null |
    sed -n 's/^installed \([^:]*\).*/\1/p' | sort -u)
  comm -23 <(printf '%s\n' "$@" | sort -u) <(printf '%s\n' "$installed")
}

# dpkg wants the folders of root's programs, which a user's PATH may lack.
as_root() {
  local whole=(env "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin" "$@")
  if [ "$(id -u)" = 0 ]; then
    "${whole[@]}"
  else
    sudo "${whole[@]}"
  fi
}

apt_install() {
  as_root DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends \
    -o Dpkg::Use-Pty=0 install "$@" </dev/null
}

sets=build,test
list=no
cuda=no
while [ $# -gt 0 ]; do
  case "$1" in
    --for) sets=${2:?--for needs a value} && shift ;;
    --for=*) sets=${1#*=} ;;
    --cuda) cuda=yes ;;
    --list) list=yes ;;
    --help | -h) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done
[ "$sets" = all ] && sets=build,test,mpi,demo,interop,wheel,site,ci

packages=()
for set in ${sets//,/ }; do
  names=$(packages_of "$set")
  read -r -a more <<<"$names"
  packages+=("${more[@]}")
done
if [ "$list" = yes ]; then
  printf '%s\n' "${packages[@]}" | sort -u
  exit 0
fi

# The last steps, whatever apt had to do.
finish() {
  case ",$sets," in
    *,build,*) bash "$(dirname "${BASH_SOURCE[0]}")/setup_onednn.sh" ;;
  esac
  if [ "$cuda" = yes ]; then exec bash "$(dirname "${BASH_SOURCE[0]}")/setup_cuda.sh"; fi
  exit 0
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: no apt on this machine; it is up to you to have: ${packages[*]}" >&2
  finish
fi
mapfile -t missing < <(missing_of "${packages[@]}")
if [ ${#missing[@]} = 0 ]; then
  echo "setup: all ${#packages[@]} packages for $sets are installed"
  finish
fi

echo "setup: installing ${missing[*]}"
if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
  echo "setup: not root and no sudo; as root, run: apt-get install ${missing[*]}" >&2
  exit 1
fi
# The package lists may be old or absent: they are fetched only where the first attempt fails.
if ! apt_install "${missing[@]}" >/dev/null 2>&1; then
  echo "setup: fetching the package lists"
  as_root apt-get -q update </dev/null || echo "setup: some package lists could not be fetched" >&2
  apt_install "${missing[@]}"
fi
echo "setup: installed ${#missing[@]} packages"
finish
