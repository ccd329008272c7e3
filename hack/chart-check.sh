#!/usr/bin/env bash
# Checks the chart with the rules of helm and of kube-score. Each exception has its reason here.
set -euo pipefail
cd "$(dirname "$0")/.."

exceptions=(
  # A CPU limit slows a process down even if the node has idle CPUs. CPU requests share the CPUs fairly. Memory is limited.
  --ignore-container-cpu-limit
  # The tag of a release never moves, so an image with this tag on a node is the right one. Values set a mirror or a digest.
  --ignore-test container-image-pull-policy
  # Root file systems are read-only, and files are written only to volumes. The rest is logs, which the kubelet rotates.
  --ignore-test container-ephemeral-storage-request-and-limit
  # The user of the official Postgres image is 999. All other pods have the user 65532.
  --ignore-test container-security-context-user-group-id
  # The chart has topology spread constraints instead. They allow two replicas on the only node of a small cluster.
  --ignore-test deployment-has-host-podantiaffinity
)

for values in "" charts/cauri/values-ci.yaml; do
  case $values in
    *values-ci.yaml) own=(--ignore-test deployment-replicas) ;; # this file sets one replica of each part
    *) own=() ;;
  esac
  echo "== ${values:-the default values}"
  bin/helm lint --strict --quiet charts/cauri ${values:+--values "$values"}
  bin/helm template cauri charts/cauri --namespace cauri-system ${values:+--values "$values"} |
    bin/kube-score score --kubernetes-version v1.30 --exit-one-on-warning --output-format ci "${exceptions[@]}" "${own[@]}" - |
    { grep -v -e '^\[OK\]' -e '^\[SKIPPED\]' || true; }
done
echo "The chart passes."
