#!/usr/bin/env bash
# Holds the chart to the rules of helm and of kube-score. What is excepted has its reason here.
set -euo pipefail
cd "$(dirname "$0")/.."

exceptions=(
  # A limit of CPU slows a process down even where the node has CPU to spare. Requests share it fairly, and memory is limited.
  --ignore-container-cpu-limit
  # The tag of a release never moves, so a node that has the image has the right one; a mirror or a digest is one value away.
  --ignore-test container-image-pull-policy
  # Root file systems are read-only, and what is written goes to volumes: only logs are left, which the kubelet rotates.
  --ignore-test container-ephemeral-storage-request-and-limit
  # The user of the official Postgres image is 999. All other pods have the user 65532.
  --ignore-test container-security-context-user-group-id
  # Topology spread constraints do the same, and still let two replicas share the only node of a small cluster.
  --ignore-test deployment-has-host-podantiaffinity
)

for values in "" charts/cauri/values-ci.yaml; do
  case $values in
    *values-ci.yaml) own=(--ignore-test deployment-replicas) ;; # one replica of each part is what this file is for
    *) own=() ;;
  esac
  echo "== ${values:-the default values}"
  bin/helm lint --strict --quiet charts/cauri ${values:+--values "$values"}
  bin/helm template cauri charts/cauri --namespace cauri-system ${values:+--values "$values"} |
    bin/kube-score score --kubernetes-version v1.30 --exit-one-on-warning --output-format ci "${exceptions[@]}" "${own[@]}" - |
    { grep -v -e '^\[OK\]' -e '^\[SKIPPED\]' || true; }
done
echo "The chart passes."
