package browser

import (
	"testing"

	"github.com/cauri-dev/cauri/test/system"
)

// A tester begins a story, pays with the number that it names, sees the verdict without loading the page again, and ends it.
func TestStoryIsPlayed(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	b := newTab(t)
	b.signIn(s)
	b.open(consoleOf(s.Sandbox) + "/overview")
	b.click("Stories")
	b.shows("h1", "Stories")
	b.press(`document.querySelector("#s-twice-at-once button")`)
	b.shows("#playing", "Open")
	b.shows("#on", "A story is being played: The webhook comes twice at once.")
	b.inspect("a story")
	b.inspectFrench(consoleOf(s.Sandbox)+"/stories", "a story")
	b.open(consoleOf(s.Sandbox) + "/stories")
	numbers := s.get("/test_numbers")["data"].([]any)
	s.settled(s.pay("order-1", numbers[0].(object)["msisdn"].(string), 1_000, nil))
	b.until(`document.querySelector("#playing header .state").innerText.trim() === "Met"`)
	b.press(`document.querySelector("#playing form button")`)
	b.until(`document.querySelector("#on").innerText === "" && !document.querySelector("#playing form")`)
	if on := s.get("/faults")["data"].([]any); len(on) != 0 {
		t.Errorf("in the end, on are %v", on)
	}
}
