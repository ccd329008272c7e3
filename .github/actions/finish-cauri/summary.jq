# Markdown of what happened in a sandbox. $events, $attempts (events with theirs) and $requests are what the API answered, empty where it did
# not. The texts come from programs under test: as code, they cannot be markup.
def code: tostring | gsub("[[:space:][:cntrl:]]+"; " ") | sub("^ "; "") | sub(" $"; "") | .[:200] | gsub("`"; "'") | gsub("\\|"; "\\|")
  | if . == "" then "" else "`\(.)`" end;

# table has a line for each different row of its input, with how often it is there, the most frequent first.
def table($title; $heading):
  if length == 0 then empty else
    "**\($title)**", "", "| " + ($heading | join(" | ")) + " |", "|" + ($heading | map(" --- |") | add),
    (group_by(.) | sort_by(-length) | .[:30][] | "| " + (.[0] + [length] | join(" | ")) + " |"), ""
  end;

def by_faults: if length == 0 then "" else "fault \(join("; ")). " end;

if $events == [] then "The events of the sandbox could not be read."
elif $events[0].data == [] then "The sandbox has no events."
else
  [$events[0].data[] | [(.event | code), .status, .state]] | table("Events"; ["event", "transaction", "delivery", "events"]),
  "The newest 100 events count. The artifact has all their fields."
end,
"",
([$attempts[0][]? | .event as $event | .attempts[] | select(.error) |
  [($event | code), ((.effects // .faults // [] | by_faults) + .error | code), (.responseBody | code)]] |
  table("Attempts that failed"; ["event", "reason", "the receiver's answer", "attempts"])),
([$requests[0].data[]? |
  [("\(.method) \(.path)" | code), (.status // "no answer" | tostring), (.error // "" | code),
   (([.fault // empty] | by_faults) +
    (([.responseBody.detail.fieldErrors? // {} | to_entries[] | "\(.key): \(.value | join("; "))"] | join("; ")) as $fields |
     if $fields != "" then $fields else .responseBody.message? // (if .status == 401 then "no API key of this sandbox" else "" end) end) | code)]] |
  table("Requests that were refused"; ["request", "HTTP", "error", "reason", "requests"]))
