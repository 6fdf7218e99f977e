#!/usr/bin/env bash
# Tests of tools/lib.sh, tools/tidy.sh and .ci/run: no file is skipped silently, and CI runs the commands of README.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
# As told from git's own hooks, git would speak of another checkout than the scratch one.
unset "${!GIT_@}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset LAB_REQUIRED

# expect WHAT WANTED GOT
expect() { [ "$2" = "$3" ] || die "$1: '$3' instead of '$2'"; }

printf '....\nRan 9 tests in 1.5s\n\nOK\n' >log
expect "unittest, all well" "9 0 0" "$(unittest_totals log)"
printf 'Ran 9 tests in 1.5s\n\nOK (skipped=2)\n' >log
expect "unittest, two skipped" "7 0 2" "$(unittest_totals log)"
printf 'Ran 9 tests in 1.5s\n\nFAILED (failures=1, errors=2, skipped=3)\n' >log
expect "unittest, some failed" "3 3 3" "$(unittest_totals log)"
printf 'Traceback\n' >log
expect "unittest, no summary" "" "$(unittest_totals log)"

# A checkout with three sources; one was changed after the first commit; the clock of tidy.sh jumps by a minute.
project=$scratch/project
mkdir -p "$project"/{.ci,tools,src,build/dev,bin}
cp "$root"/tools/{lib,tidy}.sh "$project/tools"
cp "$root/.ci/run" "$project/.ci"
cd "$project"
touch src/{a.cc,b.h,c.c}
git init -q
git add src
git -c user.name=x -c user.email=x@y commit -q -m first
touch src/new.cc
expect "sources" "src/a.cc src/b.h src/c.c src/new.cc" "$(source_files | sort | tr '\n' ' ' | sed 's/ $//')"

printf '"%s/src/a.cc"\n"%s/src/new.cc"\n' "$project" "$project" >build/dev/compile_commands.json
printf '#!/bin/sh\nexit 0\n' | tee bin/cmake >bin/clang-tidy-19
printf '#!/bin/sh\necho 60 >>clock; awk "{sum += \\$1} END {print sum}" clock\n' >bin/date
chmod +x bin/*
expect "tidy with time" "tidy: clean" "$(PATH=$project/bin:$PATH tools/tidy.sh --all | tail -n 1)"
expect "nothing left" "" "$(cat build/logs/tidy-left)"
expect "tidy without time" "tidy: out of time, not checked (all: tools/tidy.sh --all): src/a.cc src/new.cc " \
  "$(PATH=$project/bin:$PATH tools/tidy.sh --all --seconds 1 | sed -n 2p)"
expect "left" "src/a.cc src/new.cc" "$(sort build/logs/tidy-left | tr '\n' ' ' | sed 's/ $//')"
if LAB_REQUIRED=1 PATH=$project/bin:$PATH tools/tidy.sh --all --seconds 1 >log; then die "tidy without time, required: passed"; fi

printf '#!/bin/sh\nmkdir -p build/logs; echo src/a.cc >build/logs/tidy-left\n' >tools/tidy.sh
chmod +x tools/tidy.sh
expect "CI names what tidy left" "    skipped: src/a.cc: no time for clang-tidy" "$(PATH=$project/bin:$PATH .ci/run tidy | grep skipped:)"

cat >tools/test.sh <<'EOF'
#!/bin/sh
echo "test.sh $*" >>calls
mkdir -p build/logs
echo "release-tests: e2e.start: no root" >build/logs/skipped
echo "7 2 1" >build/logs/totals
exit 1
EOF
chmod +x tools/test.sh
expect "CI counts what README's command counts" "8 passed, 2 failed" "$(.ci/run release | tail -n 1)"
expect "CI names who is skipped" "    skipped: release-tests: e2e.start: no root" "$(.ci/run release | grep skipped:)"
.ci/run asan_ubsan tsan >/dev/null || true
expect "CI calls README's command" "test.sh |test.sh |test.sh --preset asan-ubsan|test.sh --preset tsan|" \
  "$(tr '\n' '|' <calls)"
mkdir -p build/package
touch build/package/kepler_1_amd64.deb
printf '#!/bin/sh\nmkdir -p build/image; echo "5 0 1" >build/image/totals; echo runs: no root >build/image/skipped\n' >tools/image.sh
chmod +x tools/image.sh
expect "CI counts the image next to another step" "14 passed, 2 failed" "$(.ci/run image release | tail -n 1)"
expect "each step has its own skipped tests" "image:    skipped: runs: no root" \
  "$(.ci/run release image | awk '/ s, / {name = $1} /skipped: runs/ {print name ":" $0}')"
expect "the last step may be the image" "6 passed, 0 failed" "$(.ci/run image | tail -n 1)"
printf '#!/bin/sh\nrm -f build/logs/totals; exit 1\n' >tools/test.sh
expect "a build that fails is one failed check" "0 passed, 1 failed" "$(.ci/run release | tail -n 1)"
echo "tools/lib.sh, tools/tidy.sh, .ci/run: fine"
