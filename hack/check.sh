#!/usr/bin/env bash
# The checks that are not tests. A failed check prints what to do. Generated files are written again and compared with the
# committed ones.
set -euo pipefail
cd "$(dirname "$0")/.."

export GOGC=400 # staticcheck loads all dependencies, and spent a third of its time on garbage collection

failed=0
problem() { printf 'FAILED: %s\n' "$1" >&2; failed=1; }

unformatted=$(git ls-files '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
  printf '%s\n' "$unformatted" >&2
  problem "these files are not formatted: run \`make format\`"
fi

large=$(git ls-files -z | xargs -0 stat --format '%s %n' | awk '$1 > 1048576 {print $2}')
[ -z "$large" ] || problem "these files are larger than 1 MiB, as built programs are: take them out of the commit: $large"

git ls-files '*.go' | xargs awk -f hack/long-lines.awk || problem "these lines are longer than 140 columns"

go vet ./... || problem "go vet"
bin/staticcheck ./... || problem "staticcheck"
(cd hack/localcluster && go vet ./... && ../../bin/staticcheck ./...) || problem "go vet or staticcheck in hack/localcluster"
(cd hack/images && go vet . && ../../bin/staticcheck .) || problem "go vet or staticcheck in hack/images"
(cd examples/go-shop && go vet ./...) || problem "go vet in examples/go-shop"
(cd hack/tools && go vet ./lint ./windows) || problem "go vet in hack/tools"
bin/lint hack/lint.txt . hack/localcluster hack/images || problem "lint: fix it, or give the reason in hack/lint.txt"
bin/windows ./cmd/cauri || problem "the program does not compile for Windows"
bin/revive -config hack/revive.toml -set_exit_status ./... || problem "revive" # in all modules

before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
generated=(api/v1alpha1 server/httpapi/wire config/crd config/rbac server/postgres/sqlc server/console server/operators server/postgres/recording_texts.go server/ledger/ledgerdb/columns.go server/ledger/recorded_columns.go server/httpapi/apidoc/page docs/agents.md docs/reference docs/troubleshooting.md docs/postman charts/cauri config/default)
mkdir -p "$before/tree"
cp -a --parents "${generated[@]}" go.mod go.sum "$before/tree"
make --no-print-directory generate
go mod tidy
for path in "${generated[@]}" go.mod go.sum; do
  diff -ru "$before/tree/$path" "$path" >&2 || problem "$path was not up to date: run \`make generate\` and \`go mod tidy\`, and commit what changed"
done

go run ./hack/prose README.md AGENTS.md skills/*/*.md skills/*/references/*.md .github/*.md docs/*.md docs/reference/*.md docs/reference/commands/*.md charts/cauri/README.md charts/cauri/templates/NOTES.txt || problem "the English of the documents"
if command -v shellcheck >/dev/null || hack/install.sh 'make check reads the shell scripts with it' shellcheck; then
  git ls-files -z "*.sh" .ci/run | xargs -0 shellcheck || problem "shellcheck"
else
  problem "there is no shellcheck to read the shell scripts"
fi
# actionlint runs shellcheck on the scripts of the steps.
bin/actionlint .github/workflows/*.yaml docs/ci/{actions,shared-cluster,kind,services}.yaml || problem "actionlint"
[ "$failed" = 0 ] && echo "All checks passed."
exit "$failed"
