#!/usr/bin/env bash
# Tests all packages, those of the given patterns with the race detector if there is the C compiler that it needs. Vetting is for
# `make check`: here it would look at all dependencies again, twice.
#
# Most tests wait more than they compute. So packages with the race detector run beside the others, the longest of these first, and each
# package runs more tests at a time than there are processors.
#
# A package that fails is tested once more, alone: on a machine that others share, a process may be so slow for a while that a test gives up.
# What fails twice fails. The output names what needed the second run, and a data race is never tried again.
set -euo pipefail
cd "$(dirname "$0")/.."

longest=$(go list ./test/e2e ./test/faults ./controllers ./test/chaos ./cmd/cauri ./test/chart)
rest=$(echo "$longest"; go list ./... | grep -vxF "$longest")
raced=
if command -v "$(go env CC)" >/dev/null; then
  raced=$(go list "$@")
  rest=$(grep -vxF "$raced" <<<"$rest" || true)
fi
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

run() { # processes of tests at a time, other arguments, packages
  # shellcheck disable=SC2048,SC2086 # one argument each
  [ -z "${*:3}" ] || go test -vet=off -timeout 60m -parallel 4 -p "$1" $2 ${*:3}
}

again() { # file with the output of a run that failed, other arguments
  local packages # not those that do not compile
  packages=$(sed -nE 's/^FAIL[[:space:]]+([^[:space:]]+)[[:space:]]+([0-9.]+s|\[.*\])$/\1/p' "$1")
  if [ -z "$packages" ] || grep -q -e 'WARNING: DATA RACE' -e '^FAIL.*\[' "$1"; then return 1; fi
  printf '\nThese packages failed and are tested once more, alone:\n%s\n' "$packages"
  run 1 "-count=1 $2" "$packages" || return 1
  printf 'They passed alone. Look at the failures above: a test should not depend on what runs beside it.\n\n'
}

(CGO_ENABLED=1 run $([ -n "$rest" ] && echo 1 || echo 2) -race "$raced" 2>&1 | tee "$output/raced") &
failed=0
run 2 "" "$rest" 2>&1 | tee "$output/rest" || failed=1
wait $! || CGO_ENABLED=1 again "$output/raced" -race || exit 1
[ "$failed" = 0 ] || again "$output/rest" ""
