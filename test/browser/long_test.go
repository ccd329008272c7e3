package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/test/system"
)

// uneven are the lists whose rows differ in height, cells that a list cuts without a title, numbers of phones that break or
// are cut, and tables that are wider than the page, if that has the room of a desktop.
const uneven = `(() => {
	const found = [], cut = (e) => getComputedStyle(e).overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1;
	for (const table of document.querySelectorAll(".list")) {
		const heights = [...table.querySelectorAll("tbody tr:not(.day)")].map((r) => r.getBoundingClientRect().height);
		if (Math.max(...heights) - Math.min(...heights) > 4) found.push("rows of " + [...new Set(heights.map(Math.round))].join(", ") + " px");
		if (innerWidth > 1200 && table.scrollWidth > table.parentElement.clientWidth) found.push("a table that is cut");
	}
	for (const e of document.querySelectorAll("main *")) {
		if (e.checkVisibility() && cut(e) && !e.closest("[title], .sr")) found.push("cut without a title: " + e.innerText);
	}
	const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), range = document.createRange();
	while (walk.nextNode()) {
		const at = walk.currentNode.data.search(/\+2[25][0-9][\s\u00a0][0-9]/), e = walk.currentNode.parentElement;
		if (at < 0 || !e.checkVisibility() || e.closest("option")) continue;
		range.setStart(walk.currentNode, at);
		range.setEnd(walk.currentNode, at + 15);
		if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) found.push("a number that breaks: " + range);
	}
	return found;
})()`

// Names of 60 characters, references of 64 without a break and large amounts leave the lists as they are.
func TestLongTextsLeaveListsEven(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	unbroken := strings.Repeat("9F8E7D6C5B4A", 6)
	for i, name := range []string{"Marie-Ange Akissi N'Guessan-Kouadio épouse Traoré de Bouaké", strings.Repeat("Ouattara", 7), "Yao"} {
		msisdn := fmt.Sprintf("+22507445566%02d", i)
		s.client(msisdn, name, "Approve", 900_000_000_000)
		for j, reference := range []string{"CLI-" + unbroken[:58], unbroken[:62], "cmd"} {
			amount := []int64{1_500, 99_999_999_999, 25_000}[j]
			s.settled(s.pay(fmt.Sprint(reference, "-", i), msisdn, amount, object{"description": unbroken}))
		}
	}
	s.pay("refused", "+2250788990011", 5_000, nil)
	s.post("/disbursements", object{"amount": 99_999_999_999, "currency": "XOF", "operator": "orange", "country": "CI", "msisdn": "+2250744556600",
		"reference": "payout-" + unbroken[:57], "application": "shop"})
	for range 2 {
		if _, err := s.Client.Post(t.Context(), "/payments", object{unbroken: unbroken}); err != nil {
			t.Fatal(err)
		}
	}
	b := newTab(t)
	b.signIn(s)
	b.speak("fr")
	for _, path := range []string{"/overview", "/payments", "/webhooks", "/requests", "/ledger", "/ledger/%2B2250744556600", "/handsets"} {
		b.open(consoleOf(s.Sandbox) + path)
		for _, width := range []int64{1280, 390, 320} {
			b.size(width, 900)
			if wider := b.overflow(); wider != "" {
				t.Errorf("%s is wider than %d px by %s", path, width, wider)
			}
			if found := read[[]string](b, uneven); len(found) > 0 {
				t.Errorf("%s at %d px has:%s", path, width, lines(found))
			}
		}
	}
}
