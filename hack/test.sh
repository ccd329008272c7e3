#!/usr/bin/env bash
# Tests all packages, those of the given patterns with the race detector if there is the C compiler that it needs. Vetting is for
# `make check`: here it would look at all dependencies again, twice.
#
# Most tests wait more than they compute. So packages with the race detector run beside the others, the longest of both first, and each
# package runs more tests at a time than there are processors.
#
# Nothing is tried twice: a test that fails beside others is fixed.
set -euo pipefail
cd "$(dirname "$0")/.."

longest=$(go list ./test/e2e ./test/faults ./controllers ./server/httpapi ./server/ledger ./server/worker ./test/chaos ./cmd/cauri \
  ./test/dev ./test/examples ./server/sandboxes ./test/chart)
all=$(echo "$longest"; go list ./... | grep -vxF "$longest")
raced=
if command -v "$(go env CC)" >/dev/null; then
  raced=$(go list "$@" | grep -xF -f - <(echo "$all"))
fi
rest=$(grep -vxF "$raced" <<<"$all" || true)

run() { # processes of tests at a time, other arguments, packages
  # shellcheck disable=SC2048,SC2086 # one argument each
  [ -z "${*:3}" ] || go test -vet=off -timeout 60m -parallel 4 -p "$1" $2 ${*:3}
}

(CGO_ENABLED=1 run 2 -race "$raced") &
failed=0
run 2 "" "$rest" || failed=1
wait $! || failed=1
exit "$failed"
