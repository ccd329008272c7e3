#!/usr/bin/env bash
# Runs the fuzz targets of hack/fuzz-targets.txt, one after the other.
#
#   FUZZTIME        the time for each target; default 2m
#   FUZZTIME_MONEY  the time for each target on which money depends; default FUZZTIME if that is set, else 10m
#   FUZZ            a regular expression that selects targets by name
#   FUZZ_PARALLEL   the number of concurrent processes
#
# A failing input is written to the package's testdata/fuzz. After that, `go test` runs it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
money=${FUZZTIME_MONEY:-${FUZZTIME:-10m}}
each=${FUZZTIME:-2m}
failed=()
while read -r package target kind; do
  case $package in '' | \#*) continue ;; esac
  [[ $target =~ ^(${FUZZ:-.*})$ ]] || continue
  length=$each
  [ "$kind" != money ] || length=$money
  printf '== %s %s, %s\n' "$package" "$target" "$length"
  go test -vet=off -run "^$target\$" -fuzz "^$target\$" -fuzztime "$length" ${FUZZ_PARALLEL:+-parallel="$FUZZ_PARALLEL"} "$package" </dev/null ||
    failed+=("$target")
done <hack/fuzz-targets.txt
if [ ${#failed[@]} -gt 0 ]; then
  echo "These found something: ${failed[*]}" >&2
  exit 1
fi
