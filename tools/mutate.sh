#!/usr/bin/env bash
# Whether a room's unit tests notice small mistakes: changes one operator at a time and runs them.
#   tools/mutate.sh ROOM[,ROOM...] N [--seed S] [--filter GTEST_FILTER] [--at FILE[:LINE]]   (docs/mutants.md)
set -euo pipefail
source "$(dirname "$0")/lib.sh"

[ $# -ge 2 ] || die "which room, and how many mutants? For example: tools/mutate.sh base 20"
tools/setup.sh dev
exec nice python3 tools/mutate.py "$@"
