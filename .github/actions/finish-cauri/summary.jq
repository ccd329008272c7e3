# Markdown of what happened in a sandbox. $expectations is a list of them. $events, $attempts (events with theirs) and $requests are what the
# API answered, empty where it did not. The texts come from programs under test: as code, they cannot be markup.
def code: tostring | gsub("[[:space:][:cntrl:]]+"; " ") | sub("^ "; "") | sub(" $"; "") | .[:200] | gsub("`"; "'") | gsub("\\|"; "\\|")
  | if . == "" then "" else "`\(.)`" end;

def rows($title; $heading):
  if length == 0 then empty else
    "**\($title)**", "", "| " + ($heading | join(" | ")) + " |", "|" + ($heading | map(" --- |") | add), "| " + (.[] | join(" | ")) + " |", ""
  end;

# table has a row for each different one of its input, with how often it is there, the most frequent first.
def table($title; $heading): group_by(.) | sort_by(-length) | .[:30] | map(.[0] + [length]) | rows($title; $heading);

# judged has a row for each line of an Expectation, and one with the verdict if no line says why it is not met. While the Expectation is
# open, a line that is met so far may fail yet.
def judged: (.metadata.name | code) as $name | [.status.conditions[]?] as $conditions | def is($type): $conditions | any(.type == $type and .status == "True");
  (if is("Met") then "met" elif is("Failed") then "failed" else "open" end) as $verdict | (.status.results // []) as $lines |
  ($lines[] | [(if .met and $verdict != "open" then "met" else $verdict end), $name, (.line | code), (.observed | code)]),
  (select($verdict != "met" and ($lines | all(.met))) | [$verdict, $name, "", ($conditions | map(select(.type == "Met").message) | join(" ") | code)]);

def by_faults: if length == 0 then "" else "fault \(join("; ")). " end;

(if $expectations == [] then "The Expectations of the sandbox could not be read.", "" else empty end),
([$expectations[0].items[]? | judged] | .[:200] | rows("Expectations"; ["result", "expectation", "line", "observed"])),
if $events == [] then "The events of the sandbox could not be read."
elif $events[0].data == [] then "The sandbox has no events."
else
  [$events[0].data[] | [(.event | code), .status, .state]] | table("Events"; ["event", "transaction", "delivery", "events"]),
  "The newest 100 events and the newest 100 refused requests count, and of events whose attempts failed the newest 20. The artifact has all their fields."
end,
"",
([$attempts[0][]? | .event as $event | .attempts[] | select(.error) |
  [($event | code), ((.effects // .faults // [] | by_faults) + .error | code), (.responseBody | code)]] |
  table("Attempts that failed"; ["event", "reason", "the receiver's answer", "attempts"])),
(if $requests == [] then "The refused requests of the sandbox could not be read.", "" else empty end),
([$requests[0].data[]? |
  [("\(.method) \(.path)" | code), (.status // "no answer" | tostring), (.error // "" | code),
   (([.fault // empty] | by_faults) +
    (([.responseBody.detail.fieldErrors? // {} | to_entries[] | "\(.key): \(.value | join("; "))"] | join("; ")) as $fields |
     if $fields != "" then $fields else .responseBody.message? // (if .status == 401 then "no API key of this sandbox" else "" end) end) | code)]] |
  table("Requests that were refused"; ["request", "HTTP", "error", "reason", "requests"]))
