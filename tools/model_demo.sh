#!/usr/bin/env bash
# Demonstrates a power model with the shipped programs: load under an agent with the fake meter, Prometheus, kepler-model serve,
# which trains and publishes, and a second agent without a meter that fetches the model. Takes three minutes.
#   tools/model_demo.sh [--no-install] [DIR]   (default: build/model-demo, which is replaced)
#     --no-install   install no packages
#   KEPLER_BIN=PATH KEPLER_MODEL_BIN=PATH   use these programs instead of building them
# Fails if estimates differ by more than 5 % from the meter on unseen load.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

install=yes
directory=build/model-demo
while [ $# -gt 0 ]; do
  case "$1" in
    --no-install) install=no ;;
    -*) die "unknown option '$1'" ;;
    *) directory=$1 ;;
  esac
  shift
done
if [ "$install" = yes ]; then tools/setup.sh build test; fi
if [ -z "${KEPLER_BIN:-}" ] || [ -z "${KEPLER_MODEL_BIN:-}" ]; then
  say "release: build"
  configure_and_build release kepler kepler-model || die "the build of preset release failed"
  KEPLER_BIN=$root/$(built release kepler)
  KEPLER_MODEL_BIN=$root/$(built release kepler-model)
fi
export KEPLER_BIN KEPLER_MODEL_BIN PYTHONDONTWRITEBYTECODE=1
marker=$directory/.kepler-model-demo
if [ -n "$(ls -A "$directory" 2>/dev/null)" ] && [ ! -e "$marker" ]; then
  die "$directory is not empty, and not what a demo has left: give another directory"
fi
rm -rf "$directory"
mkdir -p "$directory"
touch "$marker"
exec /usr/bin/python3 tests/demo/model_demo.py "$directory"
