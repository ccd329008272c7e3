package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

func pathRules() []rule {
	return []rule{
		{id: "paths/both-prefixes", check: pathsBothPrefixes,
			text: "every route answers under /v1 and under /api/v1 of the sandbox's base URL"},
		{id: "paths/tenant-by-key", check: pathsTenantByKey,
			text: "the routes answer under /v1 and /api/v1 of the host too, where the key tells whose sandbox it is"},
		{id: "paths/other-sandbox", check: pathsOtherSandbox,
			text: "under another sandbox's URL a key is as good as none"},
		{id: "paths/one-service", check: pathsOneService,
			text: "a payment made under one form of the path is there under every other"},
		{id: "paths/unknown", check: pathsUnknown,
			text: "a path that is no route is 404 not_found"},
		{id: "paths/location", check: pathsLocation,
			text: "the Location of a new payment leads to it, under whichever form of the path it was made"},
	}
}

// sandboxPath is how a base URL ends that names its sandbox.
var sandboxPath = regexp.MustCompile(`/sandboxes/([^/]+)/([^/]+)$`)

// pathForms are the URLs that the routes follow. With a base URL that names no sandbox there is no host URL beside it.
func (c *check) pathForms() []string {
	root := c.client.root
	forms := []string{root + "/v1", root + "/api/v1"}
	if host := sandboxPath.ReplaceAllString(root, ""); host != root {
		forms = append(forms, host+"/v1", host+"/api/v1")
	}
	return forms
}

func pathsBothPrefixes(c *check) { c.answersUnder(c.pathForms()[:2]) }

func pathsTenantByKey(c *check) {
	forms := c.pathForms()
	if len(forms) < 4 {
		c.notChecked("the base URL names no sandbox (/sandboxes/<namespace>/<name>)")
	}
	c.answersUnder(forms[2:])
}

// answersUnder tries a call of each kind under each form of the path.
func (c *check) answersUnder(forms []string) {
	c.needs(mtnRW)
	for _, base := range forms {
		for _, path := range []string{"/meta", "/health", "/payments"} {
			c.expect(c.send(request{method: "GET", base: base, path: path}), http.StatusOK)
		}
		body := c.collection(mtnRW, object{"scenario": "success"})
		made := c.expect(c.send(request{method: "POST", base: base, path: "/payments", body: body}), http.StatusCreated)
		c.expect(c.send(request{method: "GET", base: base, path: paymentPath(textOf(made, "id"))}), http.StatusOK)
		refunded := c.send(request{method: "POST", base: base, path: refundPath(made)})
		c.expect(refunded, http.StatusCreated)
	}
}

func pathsOtherSandbox(c *check) {
	name := sandboxPath.FindStringSubmatch(c.client.root)
	if name == nil {
		c.notChecked("the base URL names no sandbox (/sandboxes/<namespace>/<name>)")
	}
	host := strings.TrimSuffix(c.client.root, name[0])
	for _, other := range []string{name[1] + "/not-" + name[2], "not-" + name[1] + "/" + name[2]} {
		for _, prefix := range []string{"/v1", "/api/v1"} {
			a := c.send(request{method: "GET", base: host + "/sandboxes/" + other + prefix, path: "/payments"})
			c.refused(a, http.StatusUnauthorized, "unauthorized")
		}
	}
}

func pathsOneService(c *check) {
	c.needs(mtnRW)
	made := c.paid(mtnRW, nil)
	for _, base := range c.pathForms() {
		got := c.expect(c.send(request{method: "GET", base: base, path: paymentPath(textOf(made, "id"))}), http.StatusOK)
		c.fields("the payment under "+base, got, object{"id": made["id"], "reference": made["reference"]})
	}
}

func pathsUnknown(c *check) {
	for _, path := range []string{"/", "/nothing", "/payments/a/b/c", "/payments/TX_1/refunds", "/disbursements/TX_1/refund", "/meta/more"} {
		c.refused(c.get(path), http.StatusNotFound, "not_found")
	}
}

func pathsLocation(c *check) {
	c.needs(mtnRW)
	for _, base := range c.pathForms() {
		a := c.send(request{method: "POST", base: base, path: "/payments", body: c.collection(mtnRW, object{"scenario": "success"})})
		made := c.expect(a, http.StatusCreated)
		here, err := url.Parse(base + "/payments")
		if err != nil {
			c.fail("%v", err)
		}
		there, err := here.Parse(a.header.Get("Location"))
		if err != nil || a.header.Get("Location") == "" {
			c.problem("%s with the Location %q", a, a.header.Get("Location"))
			continue
		}
		got := c.expect(c.send(request{method: "GET", base: there.String()}), http.StatusOK)
		c.fields("what the Location leads to", got, object{"id": made["id"]})
	}
}

func authRules() []rule {
	return []rule{
		{id: "auth/missing", check: authMissing,
			text: "every route but meta, health and the API's description wants a key: without one it is 401 unauthorized"},
		{id: "auth/malformed", check: authMalformed,
			text: "an Authorization header that is no bearer key is 401 unauthorized"},
		{id: "auth/unknown-key", check: authUnknownKey,
			text: "a key that was never issued is 401 unauthorized, however well it is formed"},
		{id: "auth/live-key", check: authLiveKey,
			text: "a live key is 401 unauthorized: a sandbox has test keys only"},
		{id: "auth/challenge", check: authChallenge,
			text: "every 401 carries WWW-Authenticate: Bearer"},
		{id: "auth/tells-nothing", check: authTellsNothing,
			text: "no 401 tells by body or challenge what is wrong with the key"},
		{id: "auth/comes-first", check: authComesFirst,
			text: "the key is looked at before the body and before the transaction's id"},
		{id: "auth/header-only", check: authHeaderOnly,
			text: "a key in the URL is no key"},
		{id: "auth/open", check: authOpen,
			text: "meta and health need no key and do not mind a wrong one"},
	}
}

// closedRoutes are the calls that want a key.
func closedRoutes() []request {
	return []request{
		{method: "POST", path: "/payments", body: object{}},
		{method: "GET", path: "/payments"},
		{method: "GET", path: "/payments/TX_00000000000000000000"},
		{method: "POST", path: "/payments/TX_00000000000000000000/refund"},
		{method: "POST", path: "/disbursements", body: object{}},
	}
}

// unauthorized sends a call with another Authorization header; an empty one leaves the header out.
func (c *check) unauthorized(r request, authorization string) answer {
	r.header = map[string]string{"Authorization": authorization}
	a := c.send(r)
	c.refused(a, http.StatusUnauthorized, "unauthorized")
	return a
}

func authMissing(c *check) {
	for _, r := range closedRoutes() {
		c.unauthorized(r, "")
	}
}

func authMalformed(c *check) {
	key := c.client.key
	for _, authorization := range []string{
		"Bearer", "Bearer \t", key, "Basic " + key, "Token " + key, "Bearer" + key, "Bearer " + key + " " + key, "Bearer " + key + ",",
		"Bearer \"" + key + "\"", "Bearer " + strings.ToUpper(key), "Bearer x", "Bearer é",
	} {
		c.unauthorized(request{method: "GET", path: "/payments"}, authorization)
	}
}

// wrongKeys are well formed, one by one less than the last.
func (c *check) wrongKeys() []string {
	key := c.client.key
	last := "a"
	if strings.HasSuffix(key, last) {
		last = "b"
	}
	return []string{key[:len(key)-1] + last, key + "a", key[:len(key)-1], "cauri_sk_test_" + strings.Repeat("A", 32), "sk_test_1"}
}

func authUnknownKey(c *check) {
	for _, key := range c.wrongKeys() {
		for _, r := range closedRoutes() {
			c.unauthorized(r, "Bearer "+key)
		}
	}
}

// liveKey is the sandbox's key with the mark of a live one.
func (c *check) liveKey() string { return strings.Replace(c.client.key, "sk_test_", "sk_live_", 1) }

func authLiveKey(c *check) {
	c.unauthorized(request{method: "GET", path: "/payments"}, "Bearer "+c.liveKey())
	c.unauthorized(request{method: "GET", path: "/payments"}, "Bearer cauri_sk_live_"+strings.Repeat("A", 32))
}

// rejections are answers to every kind of bad key.
func (c *check) rejections() []answer {
	list := request{method: "GET", path: "/payments"}
	answers := []answer{c.unauthorized(list, ""), c.unauthorized(list, "Basic abc"), c.unauthorized(list, "Bearer "+c.liveKey())}
	for _, key := range c.wrongKeys() {
		answers = append(answers, c.unauthorized(list, "Bearer "+key))
	}
	return answers
}

func authChallenge(c *check) {
	for _, a := range c.rejections() {
		if got := a.header.Get("WWW-Authenticate"); got != "Bearer" && !strings.HasPrefix(got, "Bearer ") {
			c.problem("%s with the WWW-Authenticate %q", a, got)
		}
	}
}

func authTellsNothing(c *check) {
	answers := c.rejections()
	first := answers[0]
	for _, a := range answers[1:] {
		if string(a.body) != string(first.body) {
			c.problem("%s, and another bad key got %s", a, first)
		}
		if got, other := a.header.Get("WWW-Authenticate"), first.header.Get("WWW-Authenticate"); got != other {
			c.problem("%s with WWW-Authenticate %q, and another bad key got %q", a, got, other)
		}
	}
}

func authComesFirst(c *check) {
	for _, r := range []request{
		{method: "POST", path: "/payments", body: text("{")},
		{method: "POST", path: "/disbursements", body: text("nonsense")},
		{method: "POST", path: "/payments/nothing/refund", body: text("[]")},
		{method: "GET", path: "/payments?limit=0"},
		{method: "GET", path: "/payments/nothing"},
	} {
		c.unauthorized(r, "Bearer "+c.wrongKeys()[0])
	}
}

func authHeaderOnly(c *check) {
	key := url.QueryEscape(c.client.key)
	for _, name := range []string{"key", "api_key", "access_token"} {
		c.unauthorized(request{method: "GET", path: "/payments?" + name + "=" + key}, "")
	}
}

func authOpen(c *check) {
	for _, path := range []string{"/meta", "/health"} {
		for _, authorization := range []string{"", "Bearer " + c.wrongKeys()[0], "nonsense"} {
			a := c.send(request{method: "GET", path: path, header: map[string]string{"Authorization": authorization}})
			c.expect(a, http.StatusOK)
		}
	}
}
