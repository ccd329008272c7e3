#!/usr/bin/env bash
# Tests all packages, those of the given patterns with the race detector if there is the C compiler that it needs. Vetting is for
# `make check`: here it would look at all dependencies again, twice.
set -euo pipefail
cd "$(dirname "$0")/.."

all=$(go list ./...)
raced=$(go list "$@")
failed=0
rest=$(comm -23 <(sort <<<"$all") <(sort <<<"$raced"))
if command -v "$(go env CC)" >/dev/null; then
  # shellcheck disable=SC2086 # one argument each
  CGO_ENABLED=1 go test -vet=off -race -timeout 60m $raced || failed=1
else
  rest=$all
fi
# shellcheck disable=SC2086
[ -z "$rest" ] || go test -vet=off -timeout 60m $rest || failed=1
exit "$failed"
