package rules

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func cursorRules() []suite.Rule {
	return []suite.Rule{
		{ID: "cursor/complete", Check: cursorComplete,
			Text: "following the cursors shows every transaction once, for every page size"},
		{ID: "cursor/stable", Check: cursorStable,
			Text: "new transactions between pages neither duplicate nor hide other transactions"},
		{ID: "cursor/concurrent", Check: cursorConcurrent,
			Text: "concurrent transactions are all shown once"},
		{ID: "cursor/repeatable", Check: cursorRepeatable,
			Text: "a cursor can be used again and leads to the same page"},
		{ID: "cursor/whole-list", Check: cursorWholeList,
			Text: "the cursor of the unfiltered list leads on without a gap"},
		{ID: "cursor/tampered", Check: cursorTampered,
			Text: "a modified cursor is 400 invalid_params"},
		{ID: "cursor/refused", Check: func(c *suite.Check) {
			parameterRefused(
				c,
				"cursor",
				"",
				"x",
				"0",
				"1",
				"null",
				"TX_1",
				"eyJpZCI6MX0",
				"e30=",
				"AAAAAAAAAAAAAAAA",
				strings.Repeat("A", 4000),
				"a b",
				"é",
			)
		}, Text: "an invented cursor is 400 invalid_params"},
		{ID: "cursor/opaque", Check: cursorOpaque,
			Text: "a transaction's id is not a cursor"},
	}
}

// walk follows the cursors from the first page to the last. It calls between after each page.
func walk(c *suite.Check, query url.Values, limit int, between func()) []string {
	query.Set("limit", strconv.Itoa(limit))
	query.Del("cursor")
	var ids []string
	for page := 1; ; page++ {
		envelope := c.List(query)
		found := idsOf(c.Items(envelope))
		ids = append(ids, found...)
		next, more := envelope["nextCursor"].(string)
		if more != (envelope["hasMore"] == true) {
			c.Problem("page %d has the nextCursor %v and hasMore %v", page, envelope["nextCursor"], envelope["hasMore"])
		}
		if !more {
			return ids
		}
		if len(found) != limit {
			c.Problem("page %d has %d items and is not the last, want %d", page, len(found), limit)
		}
		if page > 1000 {
			c.Fail("the list for %s does not end", query.Encode())
		}
		between()
		query.Set("cursor", next)
	}
}

// walked records a problem unless a walk has shown exactly the given transactions.
func walked(c *suite.Check, got []string, made []suite.Object) {
	if want := newestFirst(made); !slices.Equal(got, want) {
		c.Problem("the pages have %v, want %v", got, want)
	}
}

func cursorComplete(c *suite.Check) {
	c.Needs(suite.MtnRW)
	order := "walk-" + c.Unique()
	made := extend(c, order, 12)
	for _, limit := range []int{1, 2, 3, 5, 11, 12, 13} {
		walked(c, walk(c, url.Values{"order_ref": {order}}, limit, func() {}), made)
	}
}

func cursorStable(c *suite.Check) {
	c.Needs(suite.MtnRW)
	order := "walk-" + c.Unique()
	made := extend(c, order, 10)
	walked(c, walk(c, url.Values{"order_ref": {order}}, 3, func() { extend(c, order, 2) }), made)
}

func cursorConcurrent(c *suite.Check) {
	c.Needs(suite.MtnRW)
	order := "walk-" + c.Unique()
	var want []string
	for _, a := range c.Burst(24, func(int) suite.Request {
		return suite.Request{Method: "POST", Path: "/payments", Body: c.Collection(suite.MtnRW, suite.Object{"order_ref": order, "scenario": "maintenance"})}
	}) {
		want = append(want, suite.TextOf(c.Expect(a, http.StatusCreated), "id"))
	}
	got := walk(c, url.Values{"order_ref": {order}}, 5, func() {})
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		c.Problem("the pages have, sorted, %v, want %v", got, want)
	}
}

func cursorRepeatable(c *suite.Check) {
	c.Needs(suite.MtnRW)
	query := url.Values{"order_ref": {row(c, 4)}, "limit": {"2"}}
	query.Set("cursor", suite.TextOf(c.List(query), "nextCursor"))
	first := idsOf(c.Items(c.List(query)))
	if again := idsOf(c.Items(c.List(query))); !slices.Equal(first, again) || len(first) != 2 {
		c.Problem("a cursor led to %v, and again to %v", first, again)
	}
}

func cursorWholeList(c *suite.Check) {
	c.Needs(suite.MtnRW)
	row(c, 3)
	first := c.List(url.Values{"limit": {"2"}})
	second := c.List(url.Values{"limit": {"1"}, "cursor": {suite.TextOf(first, "nextCursor")}})
	ids := append(idsOf(c.Items(first)), idsOf(c.Items(second))...)
	if len(ids) != 3 || !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) {
		c.Problem("two pages of the whole list have %v, want three in descending order", ids)
	}
}

func cursorTampered(c *suite.Check) {
	c.Needs(suite.MtnRW)
	cursor := suite.TextOf(c.List(url.Values{"order_ref": {row(c, 2)}, "limit": {"1"}}), "nextCursor")
	if cursor == "" {
		c.Fail("the first of two pages has no cursor")
	}
	for i := 0; i < len(cursor); i += max(1, len(cursor)/12) {
		parameterRefused(c, "cursor", cursor[:i]+other(cursor[i])+cursor[i+1:])
	}
	parameterRefused(c, "cursor", cursor[1:], cursor[:len(cursor)-4], cursor+"AAAA", cursor+cursor, strings.ToLower(cursor)+"=")
}

// other is another valid character of a cursor.
func other(character byte) string {
	if character == 'A' {
		return "B"
	}
	return "A"
}

func cursorOpaque(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parameterRefused(c, "cursor", suite.TextOf(c.Paid(suite.MtnRW, nil), "id"))
}
