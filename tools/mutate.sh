#!/usr/bin/env bash
# Checks whether the unit tests of a room notice small changes: changes one operator at a time and runs the tests.
#   tools/mutate.sh ROOM[,ROOM...] N [--seed S] [--filter GTEST_FILTER] [--at FILE[:LINE]]   (docs/mutants.md)
set -euo pipefail
source "$(dirname "$0")/lib.sh"

[ $# -ge 2 ] || die "which room, and how many mutants? For example: tools/mutate.sh base 20"
tools/setup.sh dev
exec nice python3 tools/mutate.py "$@"
