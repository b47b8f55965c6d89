#!/usr/bin/env bash
# Called by tools/setup.sh: oneDNN 3 for the trainer, from PyPI's wheels, in .onednn, where
# cmake/RecpackOneDnn.cmake finds it. Nothing to do where the system has a version 3.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
to=$repository/.onednn

# With GNU OpenMP, as our own threads; docs/decisions/0010-onednn.md. Wheels and their SHA-256.
version=2023.1.0
from=https://files.pythonhosted.org/packages
library=29/e4/9236f485dc163c17413aabfc7d3396236952105060b162efe55a5f87c6e5/onednn_cpu_gomp
headers=9c/3d/c51fa1ffcd386a94f926943a71ba4ec9354a0d44e0a60f5d9e7e815c4067/onednn_devel_cpu_gomp
wheels=("$library" 5635b0c0ea5d9ae0688fbab8346c465c40cb0db3a5db39ff744353ccda435cac
  "$headers" 1ed1468e4e32ab28a22fd8eec4765964ab44dae56ad8007618df2e28cdcb5fe0)

if [ "$(cat "$to/version" 2>/dev/null)" = "$version" ]; then
  echo "setup: oneDNN is in $to"
  exit 0
fi
for header in /usr/include /usr/local/include; do
  if grep -qsE '^#define DNNL_VERSION_MAJOR +[3-9]' "$header/oneapi/dnnl/dnnl_version.h"; then
    echo "setup: oneDNN is in $header"
    exit 0
  fi
done
if [ "$(uname -m)" != x86_64 ]; then
  echo "setup: no oneDNN 3 for $(uname -m); the trainer is not built" >&2
  exit 0
fi

echo "setup: fetching oneDNN, 39 MB, into $to"
rm -rf "$to"
mkdir -p "$to"
python3 - "$to" "$from" "$version" "${wheels[@]}" <<'END'
import hashlib, io, pathlib, sys, urllib.request, zipfile

to, base, version, *wheels = sys.argv[1:]
for name, digest in zip(wheels[::2], wheels[1::2]):
    url = f"{base}/{name}-{version}-py2.py3-none-manylinux1_x86_64.whl"
    with urllib.request.urlopen(url, timeout=300) as reply:
        data = reply.read()
    if hashlib.sha256(data).hexdigest() != digest:
        sys.exit(f"setup: {url} came damaged; try again")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.namelist():
            _, found, inner = member.partition(".data/data/")
            if found and inner.startswith(("include/", "lib/libdnnl.so.3.")):
                path = pathlib.Path(to, inner)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(member))
END
cd "$to/lib"
library=$(ls libdnnl.so.3.*)
ln -s "$library" libdnnl.so.3
ln -s libdnnl.so.3 libdnnl.so
printf '%s\n' "$version" >"$to/version"
echo "setup: oneDNN is in $to"
