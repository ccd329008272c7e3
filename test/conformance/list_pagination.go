package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

func listRules() []rule {
	return []rule{
		{id: "list/envelope", check: listEnvelope,
			text: "a page of the list has the transactions in data, the next cursor or null in nextCursor, and hasMore"},
		{id: "list/items", check: listItems,
			text: "the items of the list are the representations that retrieving gives"},
		{id: "list/newest-first", check: listNewestFirst,
			text: "the newest transaction comes first"},
		{id: "list/empty", check: listEmpty,
			text: "a list without transactions has an empty array, no cursor and no more"},
		{id: "list/limit-default", check: listLimitDefault,
			text: "a page has 20 transactions where no limit is given"},
		{id: "list/limit", check: listLimit,
			text: "a limit from 1 to 100 is the most transactions that a page has"},
		{id: "list/limit-refused", check: func(c *check) {
			c.parameterRefused("limit", "0", "101", "-1", "1.5", "ten", "", "1e1", "99999999999999999999", "+5", " 5")
		},
			text: "a limit that is no integer from 1 to 100 is 400 invalid_params, never clamped"},
		{id: "list/filter-country", check: func(c *check) { c.filters("country", "RW", "BJ") },
			text: "the list can be filtered by country"},
		{id: "list/filter-operator", check: func(c *check) { c.filters("operator", "mtn", "moov") },
			text: "the list can be filtered by operator"},
		{id: "list/filter-status", check: func(c *check) { c.filters("status", "SUCCESS", "TIMEOUT", "PENDING") },
			text: "the list can be filtered by status"},
		{id: "list/filter-type", check: func(c *check) { c.filters("type", "collection", "refund", "disbursement") },
			text: "the list can be filtered by type"},
		{id: "list/filter-application", check: func(c *check) { c.filters("application", shop, kiosk) },
			text: "the list can be filtered by store"},
		{id: "list/filter-msisdn", check: func(c *check) { c.filters("msisdn", payer.msisdn, moovPayer.msisdn) },
			text: "the list can be filtered by number"},
		{id: "list/filter-reference", check: listFilterReference,
			text: "the list can be filtered by reference"},
		{id: "list/filter-order", check: listFilterOrder,
			text: "the list can be filtered by order_ref, which can also be written as order"},
		{id: "list/filter-created", check: listFilterCreated,
			text: "created_after and created_before bound the time of creation, and do not take in the bounds"},
		{id: "list/filters-together", check: listFiltersTogether,
			text: "several filters together select what passes all of them"},
		{id: "list/no-match", check: listNoMatch,
			text: "a filter that nothing passes gives an empty list"},
		{id: "list/status-refused", check: func(c *check) { c.parameterRefused("status", "DONE", "success", "", "SUCCESS,TIMEOUT", "SUCCESS ") },
			text: "a status that there is not is 400 invalid_params"},
		{id: "list/operator-refused", check: func(c *check) { c.parameterRefused("operator", "vodafone", "MTN", "", "mtn,moov") },
			text: "an operator that there is not is 400 invalid_params"},
		{id: "list/country-refused", check: func(c *check) { c.parameterRefused("country", "RWA", "R", "rw", "", "ZZ", "12") },
			text: "a country that there is not is 400 invalid_params"},
		{id: "list/type-refused", check: func(c *check) { c.parameterRefused("type", "payment", "REFUND", "") },
			text: "a type that there is not is 400 invalid_params"},
		{id: "list/msisdn-refused", check: func(c *check) { c.parameterRefused("msisdn", "250788000001", "+0788000001", "x", "") },
			text: "a number that is none is 400 invalid_params"},
		{id: "list/created-refused", check: listCreatedRefused,
			text: "a time that is not in RFC 3339 is 400 invalid_params"},
		{id: "list/text-refused", check: listTextRefused,
			text: "a parameter with NUL or with bytes that are no UTF-8 is 400 invalid_params"},
	}
}

// sample is a handful of transactions that share nothing with others but their order.
type sample struct {
	order string
	items []object // in the order of their making
}

// sampled makes transactions of each type, in two countries, at two operators and in two stores.
func (c *check) sampled() sample {
	c.needsSIM(payer, moovPayer, ignores)
	c.needsStore(kiosk)
	s := sample{order: "order-" + c.unique()}
	in := func(changes object) object { return changed(object{"order_ref": s.order}, changes) }
	parent := c.paid(mtnRW, in(object{"msisdn": payer.msisdn}))
	s.items = append(s.items, parent,
		c.pay(mtnRW, in(object{"scenario": "timeout", "application": kiosk})),
		c.paid(moovBJ, in(object{"msisdn": moovPayer.msisdn})),
		c.pay(mtnRW, in(object{"msisdn": ignores.msisdn})))
	if a := c.post(refundPath(parent), object{"amount": 10}); a.status == http.StatusCreated {
		s.items = append(s.items, c.objectOf(a))
	}
	if a := c.post("/disbursements", c.disbursement(mtnRW, in(object{"msisdn": payer.msisdn}))); a.status == http.StatusOK {
		s.items = append(s.items, c.fetch(textOf(c.objectOf(a), "tx_id")))
	}
	return s
}

// idsOf are the ids of transactions.
func idsOf(items []object) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = textOf(item, "id")
	}
	return ids
}

// newestFirst are the ids of what was made, the newest first.
func newestFirst(made []object) []string {
	ids := idsOf(made)
	slices.Reverse(ids)
	return ids
}

// lists notes a problem unless the list for a query has the transactions, the newest first.
func (c *check) lists(query url.Values, made []object) {
	got, want := idsOf(c.items(c.list(query))), newestFirst(made)
	if !slices.Equal(got, want) {
		c.problem("the list for %s has %v, want %v", query.Encode(), got, want)
	}
}

// filters tries a filter for the fields of the representation that are called like it.
func (c *check) filters(parameter string, values ...string) {
	s := c.sampled()
	for _, value := range values {
		want := slices.DeleteFunc(slices.Clone(s.items), func(item object) bool { return textOf(item, parameter) != value })
		if len(want) == 0 {
			c.problem("nothing with the %s %s could be made", parameter, value)
		}
		c.lists(url.Values{"order_ref": {s.order}, parameter: {value}}, want)
	}
}

func (c *check) parameterRefused(parameter string, values ...string) {
	for _, value := range values {
		query := url.Values{parameter: {value}}
		c.refused(c.get("/payments?"+query.Encode()), http.StatusBadRequest, "invalid_params")
	}
}

func listEnvelope(c *check) {
	c.needs(mtnRW)
	order := c.row(3)
	page := c.list(url.Values{"order_ref": {order}, "limit": {"2"}})
	c.fields("a page that is not the last", page, object{"nextCursor": anyText, "hasMore": true})
	if n := len(c.items(page)); n != 2 {
		c.problem("the page has %d items, want 2", n)
	}
	page = c.list(url.Values{"order_ref": {order}, "limit": {"3"}})
	c.fields("the last page", page, object{"nextCursor": nil, "hasMore": false})
}

// row makes payments of one order, and returns the order.
func (c *check) row(n int) string {
	order := "row-" + c.unique()
	c.extend(order, n)
	return order
}

func (c *check) extend(order string, n int) []object {
	made := make([]object, n)
	for i := range made {
		made[i] = c.pay(mtnRW, object{"order_ref": order, "scenario": "maintenance"})
	}
	return made
}

func listItems(c *check) {
	s := c.sampled()
	for _, item := range c.items(c.list(url.Values{"order_ref": {s.order}})) {
		c.fields("the item, retrieved", c.fetch(textOf(item, "id")), item)
	}
}

func listNewestFirst(c *check) {
	c.needs(mtnRW)
	order := "row-" + c.unique()
	made := c.extend(order, 6)
	c.lists(url.Values{"order_ref": {order}}, made)
	// Only what one caller made one after the other has an order: two requests that overlap may be recorded either way round.
	before := time.Time{}
	for _, item := range slices.Backward(c.items(c.list(url.Values{"order_ref": {order}}))) {
		created, _ := timeOf(item["createdAt"])
		if created.Before(before) {
			c.problem("%s was created %s, before the payment that the list has behind it: %s", textOf(item, "id"), created, before)
		}
		before = created
	}
	all := idsOf(c.items(c.list(url.Values{"limit": {"100"}})))
	ours := newestFirst(made)
	all = slices.DeleteFunc(all, func(id string) bool { return !slices.Contains(ours, id) })
	if !slices.Equal(all, ours[:len(all)]) {
		c.problem("the list of all transactions has %v, want the newest of %v", all, ours)
	}
}

func listEmpty(c *check) {
	page := c.list(url.Values{"order_ref": {"nobody-" + c.unique()}})
	c.fields("the page", page, object{"nextCursor": nil, "hasMore": false})
	if n := len(c.items(page)); n != 0 {
		c.problem("the page has %d items", n)
	}
}

func listLimitDefault(c *check) {
	c.needs(mtnRW)
	order := c.row(21)
	page := c.list(url.Values{"order_ref": {order}})
	c.fields("the page", page, object{"hasMore": true, "nextCursor": anyText})
	if n := len(c.items(page)); n != 20 {
		c.problem("the page has %d items, want 20", n)
	}
}

func listLimit(c *check) {
	c.needs(mtnRW)
	order := c.row(101)
	for limit, want := range map[int]int{1: 1, 7: 7, 99: 99, 100: 100} {
		page := c.list(url.Values{"order_ref": {order}, "limit": {strconv.Itoa(limit)}})
		if n := len(c.items(page)); n != want || page["hasMore"] != true {
			c.problem("with the limit %d the page has %d items and hasMore %v, want %d and true", limit, n, page["hasMore"], want)
		}
	}
}

func listFilterReference(c *check) {
	s := c.sampled()
	for _, item := range s.items {
		c.lists(url.Values{"reference": {textOf(item, "reference")}}, []object{item})
	}
}

func listFilterOrder(c *check) {
	s := c.sampled()
	for _, parameter := range []string{"order_ref", "order"} {
		c.lists(url.Values{parameter: {s.order}}, s.items)
	}
	alone := c.pay(mtnRW, object{"scenario": "maintenance"})
	c.lists(url.Values{"order_ref": {textOf(alone, "reference")}}, []object{alone})
}

func listFilterCreated(c *check) {
	c.needs(mtnRW)
	order := "times-" + c.unique()
	var made []object
	for range 3 {
		made = append(made, c.extend(order, 1)...)
		c.pause(20 * time.Millisecond)
	}
	middle := textOf(made[1], "createdAt")
	c.lists(url.Values{"order_ref": {order}, "created_after": {middle}}, made[2:])
	c.lists(url.Values{"order_ref": {order}, "created_before": {middle}}, made[:1])
	c.lists(url.Values{"order_ref": {order}, "created_after": {textOf(made[0], "createdAt")}, "created_before": {textOf(made[2], "createdAt")}}, made[1:2])

	instant, _ := timeOf(middle)
	elsewhere := instant.In(time.FixedZone("", 2*60*60)).Format(time.RFC3339Nano)
	c.lists(url.Values{"order_ref": {order}, "created_after": {elsewhere}}, made[2:])
}

func listFiltersTogether(c *check) {
	s := c.sampled()
	c.lists(url.Values{"order_ref": {s.order}, "country": {"RW"}, "operator": {"mtn"}, "status": {"TIMEOUT"}, "application": {kiosk}}, s.items[1:2])
	c.lists(url.Values{"order_ref": {s.order}, "country": {"BJ"}, "operator": {"moov"}, "type": {"collection"}}, s.items[2:3])
	c.lists(url.Values{"order_ref": {s.order}, "country": {"BJ"}, "operator": {"mtn"}}, nil)
}

func listNoMatch(c *check) {
	for _, query := range []url.Values{
		{"application": {"no-such-store"}}, {"reference": {"no-such-" + c.unique()}}, {"order": {"no-such-" + c.unique()}},
		{"msisdn": {"+99999999999999"}}, {"created_after": {"2999-01-01T00:00:00Z"}}, {"created_before": {"1999-12-31T23:59:59.5+01:00"}},
		{"created_after": {"2999-01-01T00:00:00Z"}, "created_before": {"1999-01-01T00:00:00Z"}},
	} {
		c.lists(query, nil)
	}
}

func listCreatedRefused(c *check) {
	for _, parameter := range []string{"created_after", "created_before"} {
		c.parameterRefused(parameter, "yesterday", "2026-05-31", "2026-05-31T10:00:00", "2026-13-01T00:00:00Z", "1780000000", "", "2026-05-31 10:00:00Z")
	}
}

func listTextRefused(c *check) {
	for _, parameter := range []string{"reference", "order_ref", "order", "application", "msisdn", "cursor", "status"} {
		for _, bytes := range []string{"%00", "a%00b", "%FF", "a%C3"} {
			a := c.get(fmt.Sprintf("/payments?%s=%s", parameter, bytes))
			c.refused(a, http.StatusBadRequest, "invalid_params")
		}
	}
}
