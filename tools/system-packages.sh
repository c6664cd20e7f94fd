#!/usr/bin/env bash
# Installs the system packages that XeForge uses, where root and apt are there; elsewhere says
# what is missing. usage: tools/system-packages.sh demo|test
set -euo pipefail
purpose="${1:-demo}"
missing=()
command -v bwrap >/dev/null 2>&1 || missing+=(bubblewrap)
command -v unshare >/dev/null 2>&1 || missing+=(util-linux)
command -v gcc >/dev/null 2>&1 || command -v cc >/dev/null 2>&1 || missing+=(gcc)
[ "${#missing[@]}" -eq 0 ] && exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing system packages: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    exit 0
fi
echo "missing system packages: ${missing[*]} (as root: apt-get install ${missing[*]})" >&2
if [ "$purpose" = test ]; then
    echo "tests of the isolation layers that need them will be left out" >&2
    [ "${CI:-}" != true ] || { echo "with CI=true that is a failure" >&2; exit 1; }
else
    echo "going on with the isolation that is there; the report will say which" >&2
fi
