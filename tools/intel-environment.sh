#!/usr/bin/env bash
# Makes the optional environment of `xeforge structure`: triton-xpu, which would overwrite the
# other Triton, so it gets a folder of its own; and, where root and apt are there, ocloc.
# usage: tools/intel-environment.sh FOLDER
set -euo pipefail
folder="${1:?usage: tools/intel-environment.sh FOLDER}"
python="${PYTHON:-python3}"
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' || {
    echo "triton-xpu 3.3.0b1 has wheels for Python 3.11 and 3.12 alone; try PYTHON=python3.12" >&2
    exit 2
}
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet triton-xpu==3.3.0b1 numpy
command -v ocloc >/dev/null 2>&1 && exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq && apt-get install -y -qq --no-install-recommends intel-opencl-icd >/dev/null; then
        command -v ocloc >/dev/null 2>&1 && exit 0
    fi
fi
echo "no ocloc (package intel-opencl-icd): lowering for Battlemage works, native code does not" >&2
