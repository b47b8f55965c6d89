#!/usr/bin/env bash
# Lists the CPythons here that can build and test an extension: with an interpreter's lock, headers and venv.
#
#   bash tools/wheel/pythons.sh MINOR [PYTHON...]     PYTHON: among which (default: those in PATH, and pyenv's)
#
# One line for each version from 3.MINOR on, the oldest first: its minor number and its path.
set -euo pipefail

minor=$1
shift
if [ $# = 0 ]; then
  mapfile -t named < <(compgen -c python3. | grep -xE 'python3\.[0-9]+' | sort -u)
  set -- "${named[@]}" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3
fi
for each in "$@"; do
  "$each" - "$minor" 2>/dev/null <<'END' || true
import ensurepip, os, sys, sysconfig, venv
if (sys.implementation.name == 'cpython' and sys.version_info >= (3, int(sys.argv[1]))
        and not sysconfig.get_config_var('Py_GIL_DISABLED')
        and os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h'))):
    print(sys.version_info.minor, sys.executable)
END
done | sort -n -s -u -k1,1
