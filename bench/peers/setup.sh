#!/usr/bin/env bash
# Makes the Python environments of the peers that the benches and the interoperation tests run
# beside recpack: one folder .venvs/NAME each, with the exact versions of requirements/NAME.txt.
#
#   bash bench/peers/setup.sh    all of them (about 16 GB, the PyTorch of `ffcv` and `vision` is most)
#   bash bench/peers/setup.sh tf dali wds vision safetensors grain prometheus perfetto stores trackers
#                                those that tests/interop needs (about 8 GB)
#   bash bench/peers/setup.sh vision tf jax lightning huggingface torchtitan numba ray spark stores
#                                those that tests/python needs (about 8 GB)
#   bash bench/peers/setup.sh maxtext
#                                that of tests/python/stable_abi.sh (1.4 GB): by the oldest Python from 3.12 on
#                                that is here
#
# An environment that is already as its file says is left alone, also where python3 is another 3.N.M
# than the one that it was made with. Where it is another 3.N, that one's environment takes the folder,
# and the other one is put aside (.venvs/.NAME-3.N) until its Python asks for it again.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venvs=${RECPACK_VENVS:-$(cd "$here/../.." && pwd)/.venvs}
known=(tf dali wds py ffcv vision streams safetensors grain prometheus perfetto traceml resiliency jax maxtext lightning huggingface torchtitan numba ray spark stores remote samplers trackers typing site)

say() { echo "peers: $*"; }
fail() { echo "peers: $*" >&2; exit 2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "apt-get install ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
}

# recipe_of NAME PYTHON: what an environment is made from; it is made anew when this changes. PYTHON:
# as `python -V` has it.
recipe_of() { { cat "$here/requirements/$1.txt"; [ "$1" != ffcv ] || echo "$ffcv"; echo "$2"; } |
  sha256sum | cut -d' ' -f1; }

# "Python 3.N"; nothing where it does not run.
version_of() { { "$1" -V 2>/dev/null || true; } | cut -d. -f1-2; }

# The Python that makes an environment; nothing where there is none that can.
python_of() {
  if [ "$1" != maxtext ]; then echo python3; return; fi
  bash "$here/../../tools/wheel/pythons.sh" 12 | sed -n '1s/^[0-9]* //p'
}

# bring_forth NAME PYTHON: puts an environment of another Python aside, and that of this one back, where there is one.
bring_forth() {
  local folder=$venvs/$1 ours theirs
  ours=$(version_of "$2") theirs=$(version_of "$folder/bin/python")
  ours=${ours#* } theirs=${theirs#* }
  if [ "$theirs" = "$ours" ]; then return; fi
  if [ -n "$theirs" ]; then
    rm -rf "$venvs/.$1-$theirs"
    mv "$folder" "$venvs/.$1-$theirs"
  fi
  if [ -d "$venvs/.$1-$ours" ]; then
    rm -rf "$folder"
    mv "$venvs/.$1-$ours" "$folder"
  fi
}

# By what its own Python says, which older recipes name to the last number.
is_as_it_should_be() {
  local python=$venvs/$1/bin/python made version
  made=$(cat "$venvs/$1/recipe" 2>/dev/null) || return
  version=$(version_of "$python")
  [ -n "$version" ] || return
  [ "$made" = "$(recipe_of "$1" "$version")" ] || [ "$made" = "$(recipe_of "$1" "$("$python" -V)")" ]
}

# Environments that stand on the packages of another one: PyTorch alone is 5 GB.
declare -A base=([lightning]=vision [huggingface]=vision [torchtitan]=vision [streams]=vision [remote]=vision
                   [ray]=vision [resiliency]=traceml)
packages_of() { "$venvs/$1/bin/python" -c 'import site; print(site.getsitepackages()[0])'; }

ffcv=ffcv==1.0.2

make_environment() {
  local name=$1 folder=$venvs/$1 python
  python=$(python_of "$name")
  if [ -z "$python" ]; then
    say "$name: left out, for there is no Python from 3.12 on (in PATH, or pyenv's)"
    return
  fi
  bring_forth "$name" "$python"
  if is_as_it_should_be "$name"; then
    say "$name: as it should be"
    return
  fi
  say "$name: installing into $folder"
  rm -rf "$folder"
  "$python" -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
  "$python" -m venv "$folder"
  "$folder/bin/pip" install -q --disable-pip-version-check ${base[$name]:+--no-deps} \
    -r "$here/requirements/$name.txt"
  if [ -n "${base[$name]-}" ]; then
    packages_of "${base[$name]}" >"$(packages_of "$name")/base.pth"
  fi
  if [ "$name" = ffcv ]; then
    # Built from source; its own list of dependencies names packages that it does not need here.
    install_packages g++ pkg-config python3-dev libopencv-dev libturbojpeg0-dev
    # What SPDL opens at run time.
    install_packages libavcodec59 libavformat59 libavfilter8 libavdevice59
    "$folder/bin/pip" install -q --disable-pip-version-check --no-deps --no-build-isolation "$ffcv"
  fi
  if [ "$name" = spark ]; then
    command -v java >/dev/null || install_packages default-jre-headless
  fi
  if [ "$name" = prometheus ]; then
    # Prometheus itself: unpacked and not installed, so that no service begins.
    as_root apt-get update -qq
    (cd "$folder" && apt-get download -qq prometheus 2>/dev/null && dpkg-deb -x prometheus_*.deb server
      rm -f prometheus_*.deb)
  fi
  if [ "$name" = remote ]; then
    # The same of nginx, which serves the files of bench/remote.py.
    as_root apt-get update -qq
    (cd "$folder" && apt-get download -qq nginx 2>/dev/null && dpkg-deb -x nginx_*.deb server
      rm -f nginx_*.deb)
  fi
  recipe_of "$name" "$(version_of "$folder/bin/python")" >"$folder/recipe"
  say "$name: done, $(du -sh "$folder" | cut -f1)"
}

[ $# -gt 0 ] || set -- "${known[@]}"
for name in "$@"; do
  [[ " ${known[*]} " = *" $name "* ]] || fail "no environment '$name'; there are: ${known[*]}"
done
mkdir -p "$venvs"
for name in "$@"; do
  if [ -n "${base[$name]-}" ]; then make_environment "${base[$name]}"; fi
  make_environment "$name"
done
