package httpfront

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/requests"
)

// isLogged reports whether a request is logged if its answer has this status; 0 means no answer.
func (c *call) isLogged(status int) bool {
	if c.caller == nil {
		return c.logged.unauthenticated != nil
	}
	if c.onlyChanges() {
		return c.request.Method != http.MethodGet && !isHead(c.request)
	}
	return status/100 != 2 || c.logged.code != "" || c.logged.hint != "" || c.caller.Sandbox.RequestsLogged(c.began)
}

// onlyChanges reports whether the front of the request has [Front.OnlyChanges].
func (c *call) onlyChanges() bool { return c.front != nil && c.front.OnlyChanges }

// settle releases the kept body of the request if a request with this status of its answer is not logged.
func (c *call) settle(status int) {
	if !c.isLogged(status) {
		c.logged.sent.release()
	}
}

// keepAnswer keeps the beginning of an answer's body if the request is logged.
func (c *call) keepAnswer(body []byte, status int) {
	if l := &c.logged; c.caller != nil && !c.onlyChanges() && c.isLogged(status) && !isHead(c.request) {
		l.answered = append(l.answered, body[:min(len(body), requests.MaxBody-len(l.answered))]...)
	}
}

// logRequest adds a request and its answer to the request log of its sandbox if isLogged returns true.
func (x *Pipeline) logRequest(r *http.Request, c *call, route string) {
	defer c.logged.sent.release()
	if x.requests == nil || !c.isLogged(c.out.status) {
		return
	}
	kept := c.kept(route)
	if c.out.status == http.StatusOK && kept.OnlyFailures {
		return
	}
	k := x.keeperOf(r)
	e := requests.Entry{
		Kind: requests.Failed, ReceivedAt: c.began, Method: k.Method(r.Method), Path: k.Path(PathWithin(r.URL.Path)),
		Status: c.out.status, Error: c.logged.code, Hint: c.logged.hint, RequestID: k.RequestID(c.id),
	}
	if c.caller == nil {
		e.Tenant, e.Kind = c.logged.unauthenticated.Tenant, requests.Unauthenticated
		x.requests.Add(e)
		return
	}
	x.describeCaller(&e, c)
	if c.onlyChanges() {
		x.requests.Add(e)
		return
	}
	query, notQuery := k.Query(r.URL.RawQuery, kept.Query)
	sent := c.logged.sent.beginning()
	body, notBody := k.Request(sent, kept.Body, kept.Nested)
	if unread := slices.ContainsFunc(notBody, requests.IsUnread); unread && len(sent) < requests.MaxBody {
		e.Hint = strings.Join(slices.DeleteFunc([]string{e.Hint, "the body begins " + k.Outline(sent, kept.Body)}, isEmpty), "; ")
	}
	e.Query, e.RequestBody, e.NotKept = query, body, append(notQuery, notBody...)
	e.ResponseBody = k.Answer(c.logged.answered, kept.Answer)
	x.requests.Add(e)
}

func isEmpty(text string) bool { return text == "" }

// describeCaller sets the tenant, the fault and the kind of a request with a caller.
func (x *Pipeline) describeCaller(e *requests.Entry, c *call) {
	who := c.caller
	if f := cmp.Or(who.Faults.ToAnswer, who.Faults.ToStatus); f != nil {
		e.Fault = f.Name
	}
	e.Tenant = who.Sandbox.Tenant
	if current, valid := x.directory.ByKey(who.Key); valid { // a reset may have changed the tenant during the request
		e.Tenant = current.Tenant
	}
	e.Actor, e.Guest = c.logged.actor, c.guest
	if e.Status/100 == 2 && e.Error == "" || c.onlyChanges() && e.Status/100 == 3 { // a successful form redirects
		e.Kind = requests.Succeeded
	}
}

// kept returns the fields of a request that the request log keeps, as the front says.
func (c *call) kept(route string) LoggedFields {
	if c.front == nil {
		return LoggedFields{}
	}
	if isHead(c.request) {
		return c.front.Kept(http.MethodGet, route)
	}
	return c.front.Kept(c.request.Method, route)
}

// keeperOf returns a keeper that reduces a request to the fields that may be kept. The keeper hides the credentials of
// all fronts, not only those of the request's front.
func (x *Pipeline) keeperOf(r *http.Request) *requests.Redactor {
	user, password, _ := r.BasicAuth()
	presented := []string{user, password}
	for _, secret := range x.options.Secrets {
		presented = append(presented, secret.Of(r))
	}
	k := requests.NewRedactor(r.Header, presented...)
	for _, secret := range x.options.Secrets {
		k.HideForm(secret.Form)
	}
	return k
}
