#!/usr/bin/env bash
# Runs an earlier commit on the present schema, as during an upgrade and after a rollback: the present program migrates a database and
# applies sandboxes, then api, worker and controller of the earlier commit take over, and the earlier commit's conformance suite has to pass.
#
# BASE is the earlier commit: by default the newest release, and before the first one the commit in hack/rollback-base.
set -euo pipefail
cd "$(dirname "$0")/.."

base=${BASE:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || cat hack/rollback-base)}
if ! commit=$(git rev-parse --verify --quiet "$base^{commit}"); then
  echo "FAILED: there is no commit $base: fetch it, or name another one by BASE" >&2
  exit 1
fi
folder=$(mktemp -d)
trap 'bin/localcluster down --purge --dir="$folder/state" >/dev/null 2>&1 || true
  git worktree remove --force "$folder/earlier" 2>/dev/null || true; rm -rf "$folder"' EXIT

echo "Building $(git log -1 --format='%h of %as: %s' "$commit")"
git worktree add --quiet --detach "$folder/earlier" "$commit"
go build -C "$folder/earlier" -o "$folder/" ./cmd/cauri ./test/conformance
assets=$(bin/localcluster assets)

up() { # program
  bin/localcluster up --dir="$folder/state" --api-port=0 --samples= --crds=config/crd --cauri="$1" >"$folder/up.log" 2>&1 && return
  cat "$folder/up.log" >&2
  echo "FAILED: $1 does not come up on the present schema" >&2
  exit 1
}
kube() { "$assets/kubectl" --kubeconfig="$folder/state/kubeconfig" "$@" >/dev/null; }
secret() {
  "$assets/kubectl" --kubeconfig="$folder/state/kubeconfig" get secret conformance-credentials -o "go-template={{index .data \"$1\" | base64decode}}"
}

port=$((20000 + RANDOM % 10000))
sed "s/127\.0\.0\.1:9099/127.0.0.1:$port/" "$folder/earlier/test/conformance/sandbox.yaml" >"$folder/sandbox.yaml"
up "$PWD/bin/cauri"
kube apply -f "$folder/sandbox.yaml"
kube wait --for=condition=Ready --timeout=60s sandboxenvironment/conformance
up "$folder/cauri"
# The controller of the earlier commit is at work: it makes again what is deleted.
kube delete -f "$folder/sandbox.yaml" --timeout=60s
kube apply -f "$folder/sandbox.yaml"
kube wait --for=condition=Ready --timeout=60s sandboxenvironment/conformance
kube wait --for=condition=Ready --timeout=60s testclients --all
if ! "$folder/conformance" -url "$(secret uri)" -key "$(secret api-key)" -webhook "127.0.0.1:$port" -secret "$(secret webhook-signing-secret)" >"$folder/suite" ||
  ! grep -q ' 0 not checked' "$folder/suite"; then
  tail -n 20 "$folder"/state/logs/{controller,api,worker}.log >&2
  cat "$folder/suite" >&2
  echo "FAILED: on the present schema, $base does not do what its own conformance suite demands" >&2
  exit 1
fi
tail -n 1 "$folder/suite"
echo "$base works on the present schema."
