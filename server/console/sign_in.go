package console

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/streams"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// home redirects to the first page. That page redirects a visitor who is not signed in.
func (c *Console) home(v *visit) (httpfront.Answer, error) {
	if err := c.recognize(v.ctx(), v); err == nil {
		return v.goTo(v.firstPage()), nil
	} else if !errors.Is(err, sandboxes.ErrNoConsoleSession) {
		return httpfront.Answer{}, err
	}
	return v.goTo(firstPages[sandboxes.ConsoleFull]), nil
}

// signIn shows the form for the key. The page depends only on the path, so it is the same for a sandbox that does not
// exist.
func (c *Console) signIn(v *visit) (httpfront.Answer, error) {
	return v.html(http.StatusOK, signInPage(v, false)), nil
}

// signInWithKey starts a session for a visitor with the API key.
func (c *Console) signInWithKey(v *visit) (httpfront.Answer, error) {
	key := sandboxes.KeyHash(sha256.Sum256([]byte(v.form("key"))))
	who, err := c.Pipeline.Find(v.request, func() *service.Caller {
		sandbox, ok := c.Directory.ByKey(key)
		if !ok || !httpfront.Names(v.request, sandbox) {
			return nil
		}
		return &service.Caller{Key: key, Sandbox: sandbox}
	})
	if errors.Is(err, service.ErrUnauthorized) {
		c.Metrics.SignIn(telemetry.SignInByKey, false)
		a := v.html(http.StatusUnauthorized, signInPage(v, true))
		a.Header.Set("WWW-Authenticate", "Bearer")
		return a, nil
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	v.who = who
	var token string
	var session sandboxes.ConsoleSession
	err = c.renewing(v, func() (err error) {
		access := sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull, MadeWith: key}
		token, session, err = c.Sandboxes.AddConsoleSession(v.ctx(), v.who.Sandbox, access)
		return err
	})
	if err != nil {
		return httpfront.Answer{}, err
	}
	c.Metrics.SignIn(telemetry.SignInByKey, true)
	return c.start(v, token, &session), nil
}

// link shows a button that uses the link. A GET request must not use it, because programs that preview links send one.
// The page needs no database query, so it is the same for a sandbox that does not exist.
func (c *Console) link(v *visit) (httpfront.Answer, error) {
	token := v.request.URL.Query().Get("token")
	role, ok := sandboxes.RoleOfConsoleLink(token)
	if !ok {
		return c.deadLink(v), nil
	}
	return v.html(http.StatusOK, linkPage(v, token, role)), nil
}

// useLink starts a session by a link, which works once. If the link or the sandbox does not exist, the answer is the
// same.
func (c *Console) useLink(v *visit) (httpfront.Answer, error) {
	link := v.form("token")
	if _, ok := sandboxes.RoleOfConsoleLink(link); !ok {
		c.Metrics.SignIn(telemetry.SignInByLink, false)
		return c.deadLink(v), nil
	}
	if err := c.Directory.Refresh(v.ctx()); err != nil { // the link may be newer than the cached directory
		return httpfront.Answer{}, err
	}
	sandbox, _ := c.sandboxOfPath(v)
	v.who = &service.Caller{Sandbox: sandbox}
	var token string
	var session sandboxes.ConsoleSession
	err := c.renewing(v, func() (err error) {
		token, session, err = c.Sandboxes.UseConsoleLink(v.ctx(), v.who.Sandbox, link)
		return err
	})
	if errors.Is(err, sandboxes.ErrNoConsoleLink) || errors.Is(err, sandboxes.ErrNoConsoleSession) {
		c.Metrics.SignIn(telemetry.SignInByLink, false)
		return c.deadLink(v), nil
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	c.Metrics.SignIn(telemetry.SignInByLink, true)
	if session.Role == sandboxes.ConsoleHandset { // the guest answers the phone instead of the behavior
		_, _ = c.Service.SetManual(v.ctx(), v.who, session.MSISDN, true) // the guest gets the phone even if this fails
	}
	return c.start(v, token, &session), nil
}

func (c *Console) deadLink(v *visit) httpfront.Answer {
	return v.html(http.StatusGone, deadLinkPage(v))
}

// signOut ends the session.
func (c *Console) signOut(v *visit) (httpfront.Answer, error) {
	err := c.renewing(v, func() error { return c.Sandboxes.EndConsoleSession(v.ctx(), v.who.Sandbox, v.session.ID) })
	if err != nil && !errors.Is(err, sandboxes.ErrNoConsoleSession) {
		return httpfront.Answer{}, err
	}
	a := v.goTo("/sign-in")
	a.Header.Add("Set-Cookie", c.cookie(c.cookieName(v.who.Sandbox.OrganizationID), "", -time.Second).String())
	return a, nil
}

// languageCookie has the language that a person has chosen. It is for all sandboxes.
const (
	languageCookie = "cauri_language"
	languageAge    = 365 * 24 * time.Hour
)

// appearance sets the appearance, and redirects to the former page.
func (c *Console) appearance(v *visit) (httpfront.Answer, error) {
	return v.goBack(assets.ThemeCookie(v.form("theme"), c.secured())), nil
}

// language sets the language, and redirects to the former page. An unknown language removes the choice.
func (c *Console) language(v *visit) (httpfront.Answer, error) {
	language, age := v.form("language"), languageAge
	if !slices.Contains(locale.Tags(), language) {
		language, age = "", -time.Second
	}
	return v.goBack(c.cookie(languageCookie, language, age)), nil
}

// goBack returns an answer that sets cookies and redirects to the page whose form was sent.
func (v *visit) goBack(cookies ...*http.Cookie) httpfront.Answer {
	back := v.form("back")
	path, _, _ := strings.Cut(back, "?")
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, ":\\") || strings.Contains(path, "//") ||
		strings.ContainsFunc(back, unicode.IsControl) {
		back = "/"
	}
	a := v.goTo(back)
	for _, cookie := range cookies {
		a.Header.Add("Set-Cookie", cookie.String())
	}
	return a
}

// stream sends the page the kinds of objects that have changed. A handset session gets only changes of its own number.
func (c *Console) stream(v *visit) (httpfront.Answer, error) {
	trust := trustIn[v.session.Role]
	token := sandboxes.ConsoleToken{OrganizationID: v.who.Sandbox.OrganizationID, Hash: v.session.Hash}
	until, ended := c.watched.add(token, v.session.MadeWith)
	return c.Streams.Open(v.ctx(), v.who, httpfront.StreamOptions{
		Brief: true, MSISDN: v.session.MSISDN, Until: until, Ended: ended,
		By: streams.Session{ID: v.session.ID, Level: trust.level, Most: trust.streams},
	})
}

// keyCommand returns the command that prints the API key of a sandbox in a cluster.
func keyCommand(v *visit) string {
	return "kubectl -n " + v.namespace + " get secret \\\n  " + v.name +
		"-credentials \\\n  -o jsonpath='{.data.api-key}' | base64 -d"
}

// mayDo returns what a role may do, as a text.
func (v *visit) mayDo(role sandboxes.ConsoleRole) string {
	switch role {
	case sandboxes.ConsoleViewer:
		return v.Text("look at everything, change nothing")
	case sandboxes.ConsoleHandset:
		return v.Text("use one phone")
	}
	return v.Text("look at everything, and change it")
}
