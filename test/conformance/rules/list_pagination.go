package rules

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func listRules() []suite.Rule {
	return []suite.Rule{
		{ID: "list/envelope", Check: listEnvelope,
			Text: "a page of the list has the transactions in data, the next cursor or null in nextCursor, and hasMore"},
		{ID: "list/items", Check: listItems,
			Text: "the items of the list are the same representations as single transactions"},
		{ID: "list/newest-first", Check: listNewestFirst,
			Text: "the newest transaction comes first"},
		{ID: "list/empty", Check: listEmpty,
			Text: "a list without transactions has an empty array, no cursor and no more"},
		{ID: "list/limit-default", Check: listLimitDefault,
			Text: "a page has 20 transactions if the request has no limit"},
		{ID: "list/limit", Check: listLimit,
			Text: "a limit from 1 to 100 is the maximum number of transactions on a page"},
		{ID: "list/limit-refused", Check: func(c *suite.Check) {
			parameterRefused(c, "limit", "0", "101", "-1", "1.5", "ten", "", "1e1", "99999999999999999999", "+5", " 5")
		},
			Text: "a limit that is not an integer from 1 to 100 is 400 invalid_params, never clamped"},
		{ID: "list/filter-country", Check: func(c *suite.Check) { filters(c, "country", "RW", "BJ") },
			Text: "the list can be filtered by country"},
		{ID: "list/filter-operator", Check: func(c *suite.Check) { filters(c, "operator", "mtn", "moov") },
			Text: "the list can be filtered by operator"},
		{ID: "list/filter-status", Check: func(c *suite.Check) { filters(c, "status", "SUCCESS", "TIMEOUT", "PENDING") },
			Text: "the list can be filtered by status"},
		{ID: "list/filter-type", Check: func(c *suite.Check) { filters(c, "type", "collection", "refund", "disbursement") },
			Text: "the list can be filtered by type"},
		{ID: "list/filter-application", Check: func(c *suite.Check) { filters(c, "application", suite.Shop, suite.Kiosk) },
			Text: "the list can be filtered by store"},
		{ID: "list/filter-msisdn", Check: func(c *suite.Check) { filters(c, "msisdn", suite.Payer.MSISDN, suite.MoovPayer.MSISDN) },
			Text: "the list can be filtered by number"},
		{ID: "list/filter-reference", Check: listFilterReference,
			Text: "the list can be filtered by reference"},
		{ID: "list/filter-order", Check: listFilterOrder,
			Text: "the list can be filtered by order_ref, which can also be written as order"},
		{ID: "list/filter-created", Check: listFilterCreated,
			Text: "created_after includes its own time and created_before excludes it, so that each transaction is in one of two months"},
		{ID: "list/filters-together", Check: listFiltersTogether,
			Text: "several filters select the transactions that match all of them"},
		{ID: "list/misspelled-parameters", Check: listMisspelled,
			Text: "a parameter in another spelling, one that is a field of the answer, and one that is two letters from a filter are 400 invalid_params"},
		{ID: "list/unknown-parameters", Check: listUnknown,
			Text: "other unknown parameters are ignored, and named in X-Cauri-Ignored"},
		{ID: "list/no-match", Check: listNoMatch,
			Text: "a filter without a match gives an empty list"},
		{ID: "list/status-refused", Check: func(c *suite.Check) {
			parameterRefused(c, "status", "DONE", "success", "", "SUCCESS,TIMEOUT", "SUCCESS ")
		},
			Text: "an unknown status is 400 invalid_params"},
		{ID: "list/operator-refused", Check: func(c *suite.Check) { parameterRefused(c, "operator", "vodafone", "MTN", "", "mtn,moov") },
			Text: "an unknown operator is 400 invalid_params"},
		{ID: "list/country-refused", Check: func(c *suite.Check) { parameterRefused(c, "country", "RWA", "R", "rw", "", "ZZ", "12") },
			Text: "an unknown country is 400 invalid_params"},
		{ID: "list/type-refused", Check: func(c *suite.Check) { parameterRefused(c, "type", "payment", "REFUND", "") },
			Text: "an unknown type is 400 invalid_params"},
		{ID: "list/msisdn-refused", Check: func(c *suite.Check) { parameterRefused(c, "msisdn", "250788000001", "+0788000001", "x", "") },
			Text: "an invalid number is 400 invalid_params"},
		{ID: "list/created-refused", Check: listCreatedRefused,
			Text: "a time that is not in RFC 3339 is 400 invalid_params"},
		{ID: "list/text-refused", Check: listTextRefused,
			Text: "a parameter with NUL or with bytes that are not UTF-8 is 400 invalid_params"},
	}
}

// sample is a group of transactions with a unique order.
type sample struct {
	order string
	items []suite.Object // in the order of their creation
}

// sampled makes transactions of each type, in two countries, at two operators and in two stores.
func sampled(c *suite.Check) sample {
	c.NeedsSIM(suite.Payer, suite.MoovPayer, suite.Ignores)
	c.NeedsStore(suite.Kiosk)
	s := sample{order: "order-" + c.Unique()}
	in := func(changes suite.Object) suite.Object {
		return suite.Changed(suite.Object{"order_ref": s.order}, changes)
	}
	parent := c.Paid(suite.MtnRW, in(suite.Object{"msisdn": suite.Payer.MSISDN}))
	s.items = append(s.items, parent,
		c.Pay(suite.MtnRW, in(suite.Object{"scenario": "timeout", "application": suite.Kiosk})),
		c.Paid(suite.MoovBJ, in(suite.Object{"msisdn": suite.MoovPayer.MSISDN})),
		c.Pay(suite.MtnRW, in(suite.Object{"msisdn": suite.Ignores.MSISDN})))
	if a := c.Post(suite.RefundPath(parent), suite.Object{"amount": 10}); a.Status == http.StatusCreated {
		s.items = append(s.items, c.ObjectOf(a))
	}
	if a := c.Post("/disbursements", c.Disbursement(suite.MtnRW, in(suite.Object{"msisdn": suite.Payer.MSISDN}))); a.Status == http.StatusOK {
		s.items = append(s.items, c.Fetch(suite.TextOf(c.ObjectOf(a), "tx_id")))
	}
	return s
}

// idsOf are the ids of transactions.
func idsOf(items []suite.Object) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = suite.TextOf(item, "id")
	}
	return ids
}

// newestFirst are the ids of the created transactions, newest first.
func newestFirst(made []suite.Object) []string {
	ids := idsOf(made)
	slices.Reverse(ids)
	return ids
}

// lists records a problem unless the list for a query has the transactions, newest first.
func lists(c *suite.Check, query url.Values, made []suite.Object) {
	got, want := idsOf(c.Items(c.List(query))), newestFirst(made)
	if !slices.Equal(got, want) {
		c.Problem("the list for %s has %v, want %v", query.Encode(), got, want)
	}
}

// filters checks a filter by the fields of the same name in the representation.
func filters(c *suite.Check, parameter string, values ...string) {
	s := sampled(c)
	for _, value := range values {
		want := slices.DeleteFunc(slices.Clone(s.items), func(item suite.Object) bool { return suite.TextOf(item, parameter) != value })
		if len(want) == 0 {
			c.Problem("nothing with the %s %s could be made", parameter, value)
		}
		lists(c, url.Values{"order_ref": {s.order}, parameter: {value}}, want)
	}
}

func parameterRefused(c *suite.Check, parameter string, values ...string) {
	for _, value := range values {
		query := url.Values{parameter: {value}}
		c.Refused(c.Get("/payments?"+query.Encode()), http.StatusBadRequest, "invalid_params")
	}
}

func listEnvelope(c *suite.Check) {
	c.Needs(suite.MtnRW)
	order := row(c, 3)
	page := c.List(url.Values{"order_ref": {order}, "limit": {"2"}})
	c.Fields("a page that is not the last", page, suite.Object{"nextCursor": suite.AnyText, "hasMore": true})
	if n := len(c.Items(page)); n != 2 {
		c.Problem("the page has %d items, want 2", n)
	}
	page = c.List(url.Values{"order_ref": {order}, "limit": {"3"}})
	c.Fields("the last page", page, suite.Object{"nextCursor": nil, "hasMore": false})
}

// row makes payments of one order, and returns the order.
func row(c *suite.Check, n int) string {
	order := "row-" + c.Unique()
	extend(c, order, n)
	return order
}

func extend(c *suite.Check, order string, n int) []suite.Object {
	made := make([]suite.Object, n)
	for i := range made {
		made[i] = c.Pay(suite.MtnRW, suite.Object{"order_ref": order, "scenario": "maintenance"})
	}
	return made
}

func listItems(c *suite.Check) {
	s := sampled(c)
	for _, item := range c.Items(c.List(url.Values{"order_ref": {s.order}})) {
		c.Fields("the item, retrieved", c.Fetch(suite.TextOf(item, "id")), item)
	}
}

func listNewestFirst(c *suite.Check) {
	c.Needs(suite.MtnRW)
	order := "row-" + c.Unique()
	made := extend(c, order, 6)
	lists(c, url.Values{"order_ref": {order}}, made)
	// Only sequential requests of one client have an order: two concurrent requests may be recorded in any order.
	before := time.Time{}
	for _, item := range slices.Backward(c.Items(c.List(url.Values{"order_ref": {order}}))) {
		created, _ := suite.TimeOf(item["createdAt"])
		if created.Before(before) {
			c.Problem("%s was created %s, before the next payment of the list: %s", suite.TextOf(item, "id"), created, before)
		}
		before = created
	}
	all := idsOf(c.Items(c.List(url.Values{"limit": {"100"}})))
	ours := newestFirst(made)
	all = slices.DeleteFunc(all, func(id string) bool { return !slices.Contains(ours, id) })
	if !slices.Equal(all, ours[:len(all)]) {
		c.Problem("the list of all transactions has %v, want the newest of %v", all, ours)
	}
}

func listEmpty(c *suite.Check) {
	page := c.List(url.Values{"order_ref": {"nobody-" + c.Unique()}})
	c.Fields("the page", page, suite.Object{"nextCursor": nil, "hasMore": false})
	if n := len(c.Items(page)); n != 0 {
		c.Problem("the page has %d items", n)
	}
}

func listLimitDefault(c *suite.Check) {
	c.Needs(suite.MtnRW)
	order := row(c, 21)
	page := c.List(url.Values{"order_ref": {order}})
	c.Fields("the page", page, suite.Object{"hasMore": true, "nextCursor": suite.AnyText})
	if n := len(c.Items(page)); n != 20 {
		c.Problem("the page has %d items, want 20", n)
	}
}

func listLimit(c *suite.Check) {
	c.Needs(suite.MtnRW)
	order := row(c, 101)
	for limit, want := range map[int]int{1: 1, 7: 7, 99: 99, 100: 100} {
		page := c.List(url.Values{"order_ref": {order}, "limit": {strconv.Itoa(limit)}})
		if n := len(c.Items(page)); n != want || page["hasMore"] != true {
			c.Problem("with the limit %d the page has %d items and hasMore %v, want %d and true", limit, n, page["hasMore"], want)
		}
	}
}

func listFilterReference(c *suite.Check) {
	s := sampled(c)
	for _, item := range s.items {
		lists(c, url.Values{"reference": {suite.TextOf(item, "reference")}}, []suite.Object{item})
	}
}

func listFilterOrder(c *suite.Check) {
	s := sampled(c)
	for _, parameter := range []string{"order_ref", "order"} {
		lists(c, url.Values{parameter: {s.order}}, s.items)
	}
	alone := c.Pay(suite.MtnRW, suite.Object{"scenario": "maintenance"})
	lists(c, url.Values{"order_ref": {suite.TextOf(alone, "reference")}}, []suite.Object{alone})
}

func listFilterCreated(c *suite.Check) {
	c.Needs(suite.MtnRW)
	order := "times-" + c.Unique()
	var made []suite.Object
	for range 3 {
		made = append(made, extend(c, order, 1)...)
		c.Pause(20 * time.Millisecond)
	}
	middle := suite.TextOf(made[1], "createdAt")
	lists(c, url.Values{"order_ref": {order}, "created_after": {middle}}, made[1:])
	lists(c, url.Values{"order_ref": {order}, "created_before": {middle}}, made[:1])
	lists(
		c,
		url.Values{
			"order_ref":      {order},
			"created_after":  {suite.TextOf(made[0], "createdAt")},
			"created_before": {suite.TextOf(made[2], "createdAt")},
		},
		made[:2],
	)

	instant, _ := suite.TimeOf(middle)
	elsewhere := instant.In(time.FixedZone("", 2*60*60)).Format(time.RFC3339Nano)
	lists(c, url.Values{"order_ref": {order}, "created_after": {elsewhere}}, made[1:])
}

func listFiltersTogether(c *suite.Check) {
	s := sampled(c)
	lists(
		c,
		url.Values{"order_ref": {s.order}, "country": {"RW"}, "operator": {"mtn"}, "status": {"TIMEOUT"}, "application": {suite.Kiosk}},
		s.items[1:2],
	)
	lists(c, url.Values{"order_ref": {s.order}, "country": {"BJ"}, "operator": {"moov"}, "type": {"collection"}}, s.items[2:3])
	lists(c, url.Values{"order_ref": {s.order}, "country": {"BJ"}, "operator": {"mtn"}}, nil)
}

func listMisspelled(c *suite.Check) {
	for _, parameter := range []string{"orderRef", "ORDER_REF", "order[]", "createdAfter", "amount", "netAmount", "nextCursor", "statut", "refrence"} {
		parameterRefused(c, parameter, "1")
	}
}

func listUnknown(c *suite.Check) {
	a := c.Get("/payments?limit=1&colour=blue&sort_by=amounts")
	if ignored := a.Header.Get("X-Cauri-Ignored"); a.Status != http.StatusOK || ignored != "colour, sort_by" {
		c.Problem("%s, which names %q as ignored", a, ignored)
	}
}

func listNoMatch(c *suite.Check) {
	for _, query := range []url.Values{
		{"application": {"no-such-store"}}, {"reference": {"no-such-" + c.Unique()}}, {"order": {"no-such-" + c.Unique()}},
		{"msisdn": {"+99999999999999"}}, {"created_after": {"2999-01-01T00:00:00Z"}}, {"created_before": {"1999-12-31T23:59:59.5+01:00"}},
		{"created_after": {"2999-01-01T00:00:00Z"}, "created_before": {"1999-01-01T00:00:00Z"}},
	} {
		lists(c, query, nil)
	}
}

func listCreatedRefused(c *suite.Check) {
	for _, parameter := range []string{"created_after", "created_before"} {
		parameterRefused(
			c,
			parameter,
			"yesterday",
			"2026-05-31",
			"2026-05-31T10:00:00",
			"2026-13-01T00:00:00Z",
			"1780000000",
			"",
			"2026-05-31 10:00:00Z",
		)
	}
}

func listTextRefused(c *suite.Check) {
	for _, parameter := range []string{"reference", "order_ref", "order", "application", "msisdn", "cursor", "status"} {
		for _, bytes := range []string{"%00", "a%00b", "%FF", "a%C3"} {
			a := c.Get(fmt.Sprintf("/payments?%s=%s", parameter, bytes))
			c.Refused(a, http.StatusBadRequest, "invalid_params")
		}
	}
}
