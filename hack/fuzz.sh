#!/usr/bin/env bash
# Runs the fuzz targets of hack/fuzz-targets.txt, one after the other: FUZZTIME for each (2m), FUZZTIME_MONEY for those that money depends
# on (10m, or FUZZTIME where only that is set). FUZZ is a regular expression of the names that are run, FUZZ_PARALLEL how many processes
# work at a time. What fails is kept in the package's testdata/fuzz, and `go test` runs it from then on.
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
