#!/usr/bin/env bash
# Tests all packages. The packages of the given patterns are tested with the race detector, if there is a C compiler, which the
# race detector needs. The tests run without vet, because `make check` runs it.
#
# Most tests wait more than they compute. So packages with the race detector run beside the others, the longest of both first.
# Each package runs more concurrent tests than there are processors.
#
# No test is retried. A test that fails only beside others has to be fixed.
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
