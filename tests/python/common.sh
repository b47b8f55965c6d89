# Shared parts of the scripts here. Sourced, from any folder.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../tools/common.sh"

# Tests that need nothing but NumPy.
bare_names=(documented reading views loading lifetime dlpack functions multi_hot audio ragged threads workers writing packing pack_options
            arguments programs notebook urls parts dlio migrate user_programs)

# make_bare FOLDER PYTHON WHEEL: an environment that has the wheel and what pip brings along, which is
# NumPy: the newest that has a wheel for this Python, none is compiled.
make_bare() {
  rm -rf "$1"
  "$2" -m venv "$1"
  "$1/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: "$3"
}

# tested ENVIRONMENT PYTHON NAME: a file of tests; its name is said with the environment's. `path`: what
# it may import.
path=$repository/tests/interop
tested() {
  counted "python: $3, $1" env PYTHONPATH="$path" RECPACK_ENVIRONMENT="$1" "$2" -B "$here/test_$3.py"
}

# tested_bare FOLDER [NAME...]: in an environment of make_bare; all of them unless said otherwise.
tested_bare() {
  local name names=("${@:2}")
  if [ ${#names[@]} = 0 ]; then names=("${bare_names[@]}"); fi
  for name in "${names[@]}"; do
    RECPACK=$1/bin/recpack tested "$(basename "$1")" "$1/bin/python" "$name"
  done
}
