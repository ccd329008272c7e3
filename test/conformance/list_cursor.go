package main

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func cursorRules() []rule {
	return []rule{
		{id: "cursor/complete", check: cursorComplete,
			text: "following the cursors shows every transaction once, for every size of the pages"},
		{id: "cursor/stable", check: cursorStable,
			text: "transactions that are made while the cursors are followed neither double nor hide any"},
		{id: "cursor/concurrent", check: cursorConcurrent,
			text: "transactions that are made at the same time are all shown once"},
		{id: "cursor/repeatable", check: cursorRepeatable,
			text: "a cursor can be used again and leads to the same page"},
		{id: "cursor/whole-list", check: cursorWholeList,
			text: "the cursor of the unfiltered list leads on without a gap"},
		{id: "cursor/tampered", check: cursorTampered,
			text: "a cursor that was tampered with is 400 invalid_params"},
		{id: "cursor/refused", check: func(c *check) {
			c.parameterRefused("cursor", "", "x", "0", "1", "null", "TX_1", "eyJpZCI6MX0", "e30=", "AAAAAAAAAAAAAAAA", strings.Repeat("A", 4000), "a b", "é")
		}, text: "a cursor that the service never gave is 400 invalid_params"},
		{id: "cursor/opaque", check: cursorOpaque,
			text: "a transaction's id is no cursor"},
	}
}

// walk follows the cursors from the first page to the last. Between the pages it does what it is told to.
func (c *check) walk(query url.Values, limit int, between func()) []string {
	query.Set("limit", strconv.Itoa(limit))
	query.Del("cursor")
	var ids []string
	for page := 1; ; page++ {
		envelope := c.list(query)
		found := idsOf(c.items(envelope))
		ids = append(ids, found...)
		next, more := envelope["nextCursor"].(string)
		if more != (envelope["hasMore"] == true) {
			c.problem("page %d has the nextCursor %v and hasMore %v", page, envelope["nextCursor"], envelope["hasMore"])
		}
		if !more {
			return ids
		}
		if len(found) != limit {
			c.problem("page %d has %d items and is not the last, want %d", page, len(found), limit)
		}
		if page > 1000 {
			c.fail("the list for %s does not end", query.Encode())
		}
		between()
		query.Set("cursor", next)
	}
}

// walked notes a problem unless a walk has shown exactly what was made before.
func (c *check) walked(got []string, made []object) {
	if want := newestFirst(made); !slices.Equal(got, want) {
		c.problem("the pages have %v, want %v", got, want)
	}
}

func cursorComplete(c *check) {
	c.needs(mtnRW)
	order := "walk-" + c.unique()
	made := c.extend(order, 12)
	for _, limit := range []int{1, 2, 3, 5, 11, 12, 13} {
		c.walked(c.walk(url.Values{"order_ref": {order}}, limit, func() {}), made)
	}
}

func cursorStable(c *check) {
	c.needs(mtnRW)
	order := "walk-" + c.unique()
	made := c.extend(order, 10)
	c.walked(c.walk(url.Values{"order_ref": {order}}, 3, func() { c.extend(order, 2) }), made)
}

func cursorConcurrent(c *check) {
	c.needs(mtnRW)
	order := "walk-" + c.unique()
	var want []string
	for _, a := range c.burst(24, func(int) request {
		return request{method: "POST", path: "/payments", body: c.collection(mtnRW, object{"order_ref": order, "scenario": "maintenance"})}
	}) {
		want = append(want, textOf(c.expect(a, http.StatusCreated), "id"))
	}
	got := c.walk(url.Values{"order_ref": {order}}, 5, func() {})
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		c.problem("the pages have, sorted, %v, want %v", got, want)
	}
}

func cursorRepeatable(c *check) {
	c.needs(mtnRW)
	query := url.Values{"order_ref": {c.row(4)}, "limit": {"2"}}
	query.Set("cursor", textOf(c.list(query), "nextCursor"))
	first := idsOf(c.items(c.list(query)))
	if again := idsOf(c.items(c.list(query))); !slices.Equal(first, again) || len(first) != 2 {
		c.problem("a cursor led to %v, and again to %v", first, again)
	}
}

func cursorWholeList(c *check) {
	c.needs(mtnRW)
	c.row(3)
	first := c.list(url.Values{"limit": {"2"}})
	second := c.list(url.Values{"limit": {"1"}, "cursor": {textOf(first, "nextCursor")}})
	ids := append(idsOf(c.items(first)), idsOf(c.items(second))...)
	if len(ids) != 3 || !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) {
		c.problem("two pages of the whole list have %v, want three in descending order", ids)
	}
}

func cursorTampered(c *check) {
	c.needs(mtnRW)
	cursor := textOf(c.list(url.Values{"order_ref": {c.row(2)}, "limit": {"1"}}), "nextCursor")
	if cursor == "" {
		c.fail("the first of two pages has no cursor")
	}
	for i := 0; i < len(cursor); i += max(1, len(cursor)/12) {
		c.parameterRefused("cursor", cursor[:i]+other(cursor[i])+cursor[i+1:])
	}
	c.parameterRefused("cursor", cursor[1:], cursor[:len(cursor)-4], cursor+"AAAA", cursor+cursor, strings.ToLower(cursor)+"=")
}

// other is another character that a cursor may consist of.
func other(character byte) string {
	if character == 'A' {
		return "B"
	}
	return "A"
}

func cursorOpaque(c *check) {
	c.needs(mtnRW)
	c.parameterRefused("cursor", textOf(c.paid(mtnRW, nil), "id"))
}
