#!/usr/bin/env bash
# Builds the wheel and tests it as users get it: in an environment that has nothing but NumPy, in those of
# bench/peers/setup.sh with PyTorch, Lightning, JAX, TensorFlow, Ray, Spark and an object store (9 GB), and by mypy's eyes.
#
#   bash tests/python/run.sh [WHEEL]     WHEEL: one that is built already (default: it is built)
#
# The last line is `N passed, N failed`; exits 1 if a test failed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

venvs=${RECPACK_VENVS:-$repository/.venvs}
bare=$repository/build/python/bare
site=$repository/build/python/site
bash "$here/environments.sh" "$@"
bash "$repository/bench/peers/setup.sh" lightning huggingface torchtitan numba jax tf wds py ray spark stores typing
export RECPACK=$bare/bin/recpack RECPACK_STORES=$venvs/stores/bin

tested_bare "$bare"
path+=:$site
pairs=(vision:torch vision:ragged vision:torch_device vision:transforms vision:pictures vision:pixels vision:recipes
       lightning:lightning huggingface:huggingface huggingface:huggingface_rows torchtitan:torchtitan numba:numba jax:jax jax:audio jax:elastic_jax tf:tensorflow tf:audio ray:ray ray:ray_train ray:flight spark:spark
       ray:clusters spark:clusters
       vision:examples vision:bucket vision:elastic vision:migrate jax:examples tf:migration
       vision:user_programs lightning:user_programs huggingface:user_programs jax:user_programs tf:user_programs
       vision:peer_programs lightning:peer_programs huggingface:peer_programs torchtitan:peer_programs jax:peer_programs
       tf:peer_programs wds:peer_programs
       vision:documented huggingface:documented torchtitan:documented jax:documented ray:documented spark:documented tf:documented)
for pair in "${pairs[@]}"; do
  tested "${pair%:*}" "$venvs/${pair%:*}/bin/python" "${pair#*:}"
done
path+=:$("$venvs/wds/bin/python" -c 'import site; print(site.getsitepackages()[0])')  # beside PyTorch
tested vision "$venvs/vision/bin/python" migration
if [ -x "$venvs/ffcv/bin/python" ]; then tested ffcv "$venvs/ffcv/bin/python" migration; fi
# Programs of a C++ build, where there is one.
export RECTRAIN=$repository/build/release/tools/rectrain/rectrain
if [ -x "$RECTRAIN" ]; then tested vision "$venvs/vision/bin/python" training; fi
mypy=(--cache-dir "$bare/mypy" --python-executable "$bare/bin/python")
check "python: types" "$venvs/typing/bin/python" -m mypy --strict "${mypy[@]}" "$here/user_program.py"
check "python: types, pyright" "$venvs/typing/bin/python" "$here/check_pyright.py" "$bare/bin/python" \
  "$here/user_program.py" "$here/user_faults.py"
check "python: types, pyright, torch" "$venvs/typing/bin/python" "$here/check_pyright.py" "$venvs/vision/bin/python" \
  "$here/user_torch_faults.py" -- "$repository/build/python/site"
check "python: types, faults" "$venvs/typing/bin/python" "$here/check_faults.py" "$here/user_faults.py" "${mypy[@]}"
finish
