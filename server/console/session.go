package console

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/streams"
)

// sessionLife is how long a session lasts. The database sets it; see the table console_sessions.
const sessionLife = 8 * time.Hour

// Secrets returns the form of the console's tokens. The request log never stores these tokens.
func Secrets() []httpfront.Secret {
	return []httpfront.Secret{{Of: func(*http.Request) string { return "" }, Form: sandboxes.ConsoleTokenForm}}
}

// cookieName returns the name of the cookie of a sandbox's sessions. All sandboxes share one origin, so the cookie of
// each sandbox has its own name. With the prefix __Host-, browsers refuse this cookie from other hosts.
func (c *Console) cookieName(organization string) string {
	name := "cauri_console_" + organization
	if c.secured() {
		return "__Host-" + name
	}
	return name
}

func (c *Console) secured() bool { return c.BaseURL != nil && c.BaseURL.Scheme == "https" }

// cookie returns a cookie that browsers send only to this origin and hide from scripts.
func (c *Console) cookie(name, value string, age time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: "/", HttpOnly: true, Secure: c.secured(), SameSite: http.SameSiteStrictMode,
		MaxAge: int(age.Seconds()),
	}
}

// recognize finds the session of a visit. It returns [sandboxes.ErrNoConsoleSession] if the visit has no session of
// this sandbox, or if the sandbox does not exist.
func (c *Console) recognize(ctx context.Context, v *visit) error {
	sandbox, exists := c.sandboxOfPath(v)
	cookie, err := v.request.Cookie(c.cookieName(sandbox.OrganizationID))
	if err != nil || !exists {
		return sandboxes.ErrNoConsoleSession
	}
	v.who = &service.Caller{Sandbox: sandbox}
	return c.renewing(v, func() error {
		session, err := c.Sandboxes.FindConsoleSession(ctx, v.who.Sandbox, cookie.Value)
		if err == nil {
			v.signedIn(cookie.Value, &session)
		}
		return err
	})
}

// trusted has the limits of a session by its role. The sessions share the sandbox's streams and requests.
type trusted struct {
	level     streams.Level
	streams   int        // maximum number of open streams
	perSecond rate.Limit // average number of requests per second; 0: no limit, because such a session needs the API key
	burst     int        // maximum number of requests at once
}

var trustIn = map[sandboxes.ConsoleRole]trusted{
	sandboxes.ConsoleFull:    {level: streams.Full, streams: 16},
	sandboxes.ConsoleViewer:  {level: streams.Viewer, streams: 16, perSecond: 5, burst: 100},
	sandboxes.ConsoleHandset: {level: streams.Handset, streams: 4, perSecond: 3, burst: 60},
}

// admit counts a request against the limits of the session's role. It returns an error if the request exceeds them.
// Otherwise, the caller calls end after the request.
func (c *Console) admit(v *visit) (end func(), err error) {
	trust := trustIn[v.session.Role]
	if trust.perSecond == 0 {
		return func() {}, nil
	}
	guest := httpfront.Guest{ID: v.session.ID, PerSecond: trust.perSecond, Burst: trust.burst}
	return c.Pipeline.AdmitGuest(v.request, v.who.Sandbox.OrganizationID, guest)
}

// sandboxOfPath returns the sandbox that the path of a visit names. If it does not exist, sandboxOfPath returns an empty sandbox, which
// has no sessions and no links. The caller continues in the same way in both cases. So the time of the answer does not
// show whether a sandbox exists.
func (c *Console) sandboxOfPath(v *visit) (sandbox *sandboxes.Sandbox, exists bool) {
	if sandbox, exists = c.Directory.ByName(v.namespace, v.name); exists {
		return sandbox, true
	}
	return &sandboxes.Sandbox{}, false
}

// signedIn sets the session, the key and the form token of a visit.
func (v *visit) signedIn(secret string, session *sandboxes.ConsoleSession) {
	v.session, v.who.Key = session, session.MadeWith
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("forms of the console"))
	v.token = base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// start returns an answer that sets the cookie of a new session and redirects to the first page.
func (c *Console) start(v *visit, secret string, session *sandboxes.ConsoleSession) httpfront.Answer {
	v.signedIn(secret, session)
	c.Pipeline.NoteSession(v.request, v.who, v.actor())
	a := v.goTo(v.firstPage())
	a.Header.Add("Set-Cookie", c.cookie(c.cookieName(v.who.Sandbox.OrganizationID), secret, sessionLife).String())
	return a
}

// isOpen reports whether an API key is valid for the sandbox with this organization.
func (c *Console) isOpen(key sandboxes.KeyHash, organization string) bool {
	sandbox, ok := c.Directory.ByKey(key)
	return ok && sandbox.OrganizationID == organization
}

// checkForm parses a form. It returns an error if a page of another origin sent the form, or if the form cannot be
// read.
func (v *visit) checkForm(crossed *http.CrossOriginProtection) error {
	if err := crossed.Check(v.request); err != nil {
		return errForeignForm
	}
	v.request.Body = http.MaxBytesReader(v.writer, v.request.Body, maxForm)
	if err := v.request.ParseForm(); err != nil {
		return errBadForm
	}
	return nil
}

// hasToken reports whether a form has the token of the session.
func (v *visit) hasToken() bool {
	return hmac.Equal([]byte(v.request.PostForm.Get("token")), []byte(v.token))
}

// form returns a field of a form.
func (v *visit) form(name string) string {
	return strings.TrimSpace(postgres.Text(v.request.PostForm.Get(name)))
}

// The errors of requests that the console refuses.
var (
	errNotFound    = errors.New("there is no such page")
	errForbidden   = errors.New("the session may not do this")
	errOnePhone    = errors.New("the session is of one phone")
	errForeignForm = errors.New("the form does not come from a page of the session")
	errBadForm     = errors.New("the form cannot be read")
)

// unavailable reports whether an error comes from the database.
func unavailable(err error) bool {
	return errors.Is(err, postgres.ErrUnavailable) || errors.Is(err, postgres.ErrOverloaded) ||
		errors.Is(err, postgres.ErrConfigChanged)
}
