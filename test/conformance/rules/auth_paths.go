package rules

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func pathRules() []suite.Rule {
	return []suite.Rule{
		{ID: "paths/both-prefixes", Check: pathsBothPrefixes,
			Text: "every route answers under /v1 and under /api/v1 of the sandbox's base URL"},
		{ID: "paths/tenant-by-key", Check: pathsTenantByKey,
			Text: "the routes also answer under /v1 and /api/v1 of the host, where the key selects the sandbox"},
		{ID: "paths/other-sandbox", Check: pathsOtherSandbox,
			Text: "a key is not valid under another sandbox's URL"},
		{ID: "paths/one-service", Check: pathsOneService,
			Text: "a payment made under one form of the path exists under every other"},
		{ID: "paths/unknown", Check: pathsUnknown,
			Text: "an unknown path is 404 not_found"},
		{ID: "paths/location", Check: pathsLocation,
			Text: "the Location of a new payment leads to it, under every form of the path"},
	}
}

// sandboxPath matches the end of a base URL that names its sandbox.
var sandboxPath = regexp.MustCompile(`/sandboxes/([^/]+)/([^/]+)$`)

// pathForms are the base URLs of the routes. A base URL that names no sandbox has no separate host URL.
func pathForms(c *suite.Check) []string {
	root := c.Client.Root
	forms := []string{root + "/v1", root + "/api/v1"}
	if host := sandboxPath.ReplaceAllString(root, ""); host != root {
		forms = append(forms, host+"/v1", host+"/api/v1")
	}
	return forms
}

func pathsBothPrefixes(c *suite.Check) { answersUnder(c, pathForms(c)[:2]) }

func pathsTenantByKey(c *suite.Check) {
	forms := pathForms(c)
	if len(forms) < 4 {
		c.NotChecked("the base URL names no sandbox (/sandboxes/<namespace>/<name>)")
	}
	answersUnder(c, forms[2:])
}

// answersUnder tries a call of each kind under each form of the path.
func answersUnder(c *suite.Check, forms []string) {
	c.Needs(suite.MtnRW)
	for _, base := range forms {
		for _, path := range []string{"/meta", "/health", "/payments"} {
			c.Expect(c.Send(suite.Request{Method: "GET", Base: base, Path: path}), http.StatusOK)
		}
		body := c.Collection(suite.MtnRW, suite.Object{"scenario": "success"})
		made := c.Expect(c.Send(suite.Request{Method: "POST", Base: base, Path: "/payments", Body: body}), http.StatusCreated)
		c.Expect(c.Send(suite.Request{Method: "GET", Base: base, Path: suite.PaymentPath(suite.TextOf(made, "id"))}), http.StatusOK)
		refunded := c.Send(suite.Request{Method: "POST", Base: base, Path: suite.RefundPath(made)})
		c.Expect(refunded, http.StatusCreated)
	}
}

func pathsOtherSandbox(c *suite.Check) {
	name := sandboxPath.FindStringSubmatch(c.Client.Root)
	if name == nil {
		c.NotChecked("the base URL names no sandbox (/sandboxes/<namespace>/<name>)")
	}
	host := strings.TrimSuffix(c.Client.Root, name[0])
	for _, other := range []string{name[1] + "/not-" + name[2], "not-" + name[1] + "/" + name[2]} {
		for _, prefix := range []string{"/v1", "/api/v1"} {
			a := c.Send(suite.Request{Method: "GET", Base: host + "/sandboxes/" + other + prefix, Path: "/payments"})
			c.Refused(a, http.StatusUnauthorized, "unauthorized")
		}
	}
}

func pathsOneService(c *suite.Check) {
	c.Needs(suite.MtnRW)
	made := c.Paid(suite.MtnRW, nil)
	for _, base := range pathForms(c) {
		got := c.Expect(c.Send(suite.Request{Method: "GET", Base: base, Path: suite.PaymentPath(suite.TextOf(made, "id"))}), http.StatusOK)
		c.Fields("the payment under "+base, got, suite.Object{"id": made["id"], "reference": made["reference"]})
	}
}

func pathsUnknown(c *suite.Check) {
	for _, path := range []string{"/", "/nothing", "/payments/a/b/c", "/payments/TX_1/refunds", "/disbursements/TX_1/refund", "/meta/more"} {
		c.Refused(c.Get(path), http.StatusNotFound, "not_found")
	}
}

func pathsLocation(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, base := range pathForms(c) {
		a := c.Send(
			suite.Request{Method: "POST", Base: base, Path: "/payments", Body: c.Collection(suite.MtnRW, suite.Object{"scenario": "success"})},
		)
		made := c.Expect(a, http.StatusCreated)
		here, err := url.Parse(base + "/payments")
		if err != nil {
			c.Fail("%v", err)
		}
		there, err := here.Parse(a.Header.Get("Location"))
		if err != nil || a.Header.Get("Location") == "" {
			c.Problem("%s with the Location %q", a, a.Header.Get("Location"))
			continue
		}
		got := c.Expect(c.Send(suite.Request{Method: "GET", Base: there.String()}), http.StatusOK)
		c.Fields("what the Location leads to", got, suite.Object{"id": made["id"]})
	}
}

func authRules() []suite.Rule {
	return []suite.Rule{
		{ID: "auth/missing", Check: authMissing,
			Text: "every route except meta, health and the API's description needs a key: without one it is 401 unauthorized"},
		{ID: "auth/malformed", Check: authMalformed,
			Text: "an Authorization header without a bearer key is 401 unauthorized"},
		{ID: "auth/unknown-key", Check: authUnknownKey,
			Text: "a key that was never issued is 401 unauthorized, even if it is well formed"},
		{ID: "auth/live-key", Check: authLiveKey,
			Text: "a live key is 401 unauthorized: a sandbox has only test keys"},
		{ID: "auth/challenge", Check: authChallenge,
			Text: "every 401 carries WWW-Authenticate: Bearer"},
		{ID: "auth/tells-nothing", Check: authTellsNothing,
			Text: "neither the body nor the challenge of a 401 says what is wrong with the key"},
		{ID: "auth/comes-first", Check: authComesFirst,
			Text: "the key is checked before the body and before the transaction's id"},
		{ID: "auth/header-only", Check: authHeaderOnly,
			Text: "a key in the URL is ignored"},
		{ID: "auth/open", Check: authOpen,
			Text: "meta and health need no key and accept a wrong one"},
	}
}

// closedRoutes are the calls that need a key.
func closedRoutes() []suite.Request {
	return []suite.Request{
		{Method: "POST", Path: "/payments", Body: suite.Object{}},
		{Method: "GET", Path: "/payments"},
		{Method: "GET", Path: "/payments/TX_00000000000000000000"},
		{Method: "POST", Path: "/payments/TX_00000000000000000000/refund"},
		{Method: "POST", Path: "/disbursements", Body: suite.Object{}},
	}
}

// unauthorized sends a call with another Authorization header, or without one if it is empty.
func unauthorized(c *suite.Check, r suite.Request, authorization string) suite.Answer {
	r.Header = map[string]string{"Authorization": authorization}
	a := c.Send(r)
	c.Refused(a, http.StatusUnauthorized, "unauthorized")
	return a
}

func authMissing(c *suite.Check) {
	for _, r := range closedRoutes() {
		unauthorized(c, r, "")
	}
}

func authMalformed(c *suite.Check) {
	key := c.Client.Key
	for _, authorization := range []string{
		"Bearer", "Bearer \t", key, "Basic " + key, "Token " + key, "Bearer" + key, "Bearer " + key + " " + key, "Bearer " + key + ",",
		"Bearer \"" + key + "\"", "Bearer " + strings.ToUpper(key), "Bearer x", "Bearer é",
	} {
		unauthorized(c, suite.Request{Method: "GET", Path: "/payments"}, authorization)
	}
}

// wrongKeys are keys that were never issued: some are nearly right, some have another form.
func wrongKeys(c *suite.Check) []string {
	key := c.Client.Key
	last := "a"
	if strings.HasSuffix(key, last) {
		last = "b"
	}
	return []string{key[:len(key)-1] + last, key + "a", key[:len(key)-1], "cauri_sk_test_" + strings.Repeat("A", 32), "sk_test_1"}
}

func authUnknownKey(c *suite.Check) {
	for _, key := range wrongKeys(c) {
		for _, r := range closedRoutes() {
			unauthorized(c, r, "Bearer "+key)
		}
	}
}

// liveKey is the sandbox's key with the prefix of a live key.
func liveKey(c *suite.Check) string { return strings.Replace(c.Client.Key, "sk_test_", "sk_live_", 1) }

func authLiveKey(c *suite.Check) {
	unauthorized(c, suite.Request{Method: "GET", Path: "/payments"}, "Bearer "+liveKey(c))
	unauthorized(c, suite.Request{Method: "GET", Path: "/payments"}, "Bearer cauri_sk_live_"+strings.Repeat("A", 32))
}

// rejections are answers to every kind of bad key.
func rejections(c *suite.Check) []suite.Answer {
	list := suite.Request{Method: "GET", Path: "/payments"}
	answers := []suite.Answer{unauthorized(c, list, ""), unauthorized(c, list, "Basic abc"), unauthorized(c, list, "Bearer "+liveKey(c))}
	for _, key := range wrongKeys(c) {
		answers = append(answers, unauthorized(c, list, "Bearer "+key))
	}
	return answers
}

func authChallenge(c *suite.Check) {
	for _, a := range rejections(c) {
		if got := a.Header.Get("WWW-Authenticate"); got != "Bearer" && !strings.HasPrefix(got, "Bearer ") {
			c.Problem("%s with the WWW-Authenticate %q", a, got)
		}
	}
}

func authTellsNothing(c *suite.Check) {
	answers := rejections(c)
	first := answers[0]
	for _, a := range answers[1:] {
		if string(a.Body) != string(first.Body) {
			c.Problem("%s, and another bad key got %s", a, first)
		}
		if got, other := a.Header.Get("WWW-Authenticate"), first.Header.Get("WWW-Authenticate"); got != other {
			c.Problem("%s with WWW-Authenticate %q, and another bad key got %q", a, got, other)
		}
	}
}

func authComesFirst(c *suite.Check) {
	for _, r := range []suite.Request{
		{Method: "POST", Path: "/payments", Body: suite.Text("{")},
		{Method: "POST", Path: "/disbursements", Body: suite.Text("nonsense")},
		{Method: "POST", Path: "/payments/nothing/refund", Body: suite.Text("[]")},
		{Method: "GET", Path: "/payments?limit=0"},
		{Method: "GET", Path: "/payments/nothing"},
	} {
		unauthorized(c, r, "Bearer "+wrongKeys(c)[0])
	}
}

func authHeaderOnly(c *suite.Check) {
	key := url.QueryEscape(c.Client.Key)
	for _, name := range []string{"key", "api_key", "access_token"} {
		unauthorized(c, suite.Request{Method: "GET", Path: "/payments?" + name + "=" + key}, "")
	}
}

func authOpen(c *suite.Check) {
	for _, path := range []string{"/meta", "/health"} {
		for _, authorization := range []string{"", "Bearer " + wrongKeys(c)[0], "nonsense"} {
			a := c.Send(suite.Request{Method: "GET", Path: path, Header: map[string]string{"Authorization": authorization}})
			c.Expect(a, http.StatusOK)
		}
	}
}
