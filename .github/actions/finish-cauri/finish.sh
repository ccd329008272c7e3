#!/usr/bin/env bash
# Keeps what the sandbox of setup-cauri did in $RUNNER_TEMP/cauri-report, writes a summary, and removes the sandbox. It goes on whatever fails.
set -uo pipefail

work=$RUNNER_TEMP/cauri
report=$RUNNER_TEMP/cauri-report
mode='' pid='' kubeconfig='' cluster='' namespace='' uri='' key='' secret=''
if ! [ -e "$work/state" ]; then
  echo "There is no sandbox to finish."
  exit 0
fi
# shellcheck source=/dev/null # setup.sh wrote it
. "$work/state"
[ -z "$kubeconfig" ] || export KUBECONFIG=$kubeconfig
mkdir -p "$report"

warn() { printf '::warning title=finish-cauri::%s\n' "$1"; }

if [ -n "$uri" ]; then
  curl -fsS --max-time 20 --header "Authorization: Bearer $key" --output "$report/events.json" "$uri/api/v1/events?limit=100" ||
    warn "The events of the sandbox could not be read."
fi
if [ "$mode" = dev ]; then
  cp "$work/cauri.log" "$report/cauri.log" 2>/dev/null
fi
if [ -n "$namespace" ]; then
  {
    kubectl --namespace "$namespace" get sandboxenvironments,testclients --output wide
    kubectl --namespace "$namespace" get events --sort-by=.lastTimestamp
  } >"$report/resources.txt" 2>&1 || warn "The resources could not be read."
fi
for hidden in "$key" "$secret"; do
  [ -z "$hidden" ] || grep -rlF -e "$hidden" "$report" | while read -r file; do
    text=$(<"$file")
    printf '%s\n' "${text//"$hidden"/***}" >"$file"
  done
done

{
  printf '### Cauri (%s)\n\n' "$mode"
  # shellcheck disable=SC2016 # Markdown
  if [ -s "$report/events.json" ]; then
    printf '| event | transaction | delivery | |\n| --- | --- | --- | --- |\n'
    # A line for each event, {"id":...,"event":...,"status":...,"state":...}: how many there are of each kind.
    tr '{' '\n' <"$report/events.json" | sed -nE 's/.*"event":"([^"]*)".*"status":"([^"]*)".*"state":"([^"]*)".*/| `\1` | \2 | \3/p' |
      sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)$/\2 | \1 |/'
    printf '\nThe newest 100 events count. The artifact has all their fields.\n'
  else
    printf 'The sandbox has no events.\n'
  fi
  # shellcheck disable=SC2016 # Markdown
  if [ -s "$report/resources.txt" ]; then
    printf '\n```\n%s\n```\n' "$(<"$report/resources.txt")"
  fi
} >>"$GITHUB_STEP_SUMMARY"

if [ -n "$namespace" ] && [ -z "$cluster" ]; then
  kubectl delete namespace "$namespace" --ignore-not-found --wait=false || warn "The namespace $namespace could not be deleted."
fi
if [ -n "$pid" ] && kill "$pid" 2>/dev/null; then
  for _ in {1..100}; do # it has ten seconds to stop
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
fi
if [ -n "$cluster" ]; then
  kind delete cluster --name "$cluster" || warn "The cluster $cluster could not be deleted."
fi
rm -rf "$work"
