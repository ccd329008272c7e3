package console

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/httpfront/static"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// visit is a request of a browser.
type visit struct {
	*locale.Locale
	request         *http.Request
	writer          http.ResponseWriter // to read a body
	namespace, name string              // of the sandbox in the path, which may not exist
	path            string              // below {uri}/console
	uri             string              // address of the sandbox for clients of the API
	apart           bool                // whether the API has another host than the console
	theme           string              // light or dark; empty: the system's theme
	keysOff         bool                // whether the keys that work without Ctrl or Alt are off, see keysCookie
	version         string              // of this program
	session         *sandboxes.ConsoleSession
	token           string          // token in the forms of the session
	who             *service.Caller // nil: nobody is signed in
	clock           clocks.Clock    // clock of the sandbox; only for a page
	clockAt         time.Time       // real time at which the clock was read
	counts          navCounts       // only for a page
	on              faults.Set      // faults that were set and can still act; only for a page
	dev             bool            // whether the console is one of cauri dev
}

// page is the part of a page inside the common layout.
type page struct {
	title string
	body  templ.Component
	// live are the ids of the elements that the browser replaces when something changes in the sandbox; nil for none.
	live []string
	// every is the interval in seconds at which the browser replaces the live elements even without a change; 0: never.
	every int
	// again is the path, below {uri}/console, from which the browser reads the live elements; empty: the page's own.
	again string
	// of has the types of changes that the live elements show, separated by commas; empty: all.
	of string
	// pause is the minimum interval in milliseconds between two updates; 0: the default of console.js.
	pause     int
	frameless bool // whether the page is without the frame of the console
	status    int  // 0: 200
}

// handler returns the handler of a route. The handler checks the session and its role, and puts a page into the layout.
func (c *Console) handler(r *route) httpfront.OpenHandler {
	return func(w http.ResponseWriter, request *http.Request) (httpfront.Answer, error) {
		ctx, cancel := context.WithTimeout(request.Context(), httpfront.AnswerTimeout)
		defer cancel()
		v := c.visitOf(w, request.WithContext(ctx))
		if !label.MatchString(v.namespace) || !label.MatchString(v.name) {
			return httpfront.Answer{}, errNotFound
		}
		if r.method != http.MethodGet {
			if err := v.checkForm(c.crossed); err != nil {
				return httpfront.Answer{}, err
			}
		}
		if r.roles == nil {
			return r.do(c, v)
		}
		if err := c.recognize(ctx, v); errors.Is(err, sandboxes.ErrNoConsoleSession) {
			return v.toSignIn(), nil
		} else if err != nil {
			return httpfront.Answer{}, err
		}
		c.Pipeline.NoteSession(request, v.who, v.actor())
		end, err := c.admit(v)
		if err != nil {
			return httpfront.Answer{}, err
		}
		defer end()
		switch {
		case !slices.Contains(r.roles, v.session.Role), !v.isOfNumber():
			if v.session.Role == sandboxes.ConsoleHandset {
				return httpfront.Answer{}, errOnePhone
			}
			return httpfront.Answer{}, errForbidden
		case r.method != http.MethodGet && !v.hasToken():
			return httpfront.Answer{}, errForeignForm
		}
		return c.serve(r, v)
	}
}

// again returns an answer with a page that shows a refused form again. The request log gets the error code.
func (c *Console) again(v *visit, status int, p page, code string) (a httpfront.Answer, err error) {
	err = c.renewing(v, func() error { return c.readFrame(v.ctx(), v) })
	a = v.html(status, framed(v, p))
	a.Code = code
	return a, err
}

// readFrame reads what the layout shows around a page.
func (c *Console) readFrame(ctx context.Context, v *visit) (err error) {
	if v.clock, err = c.Ledger.Clock(ctx, v.who.Sandbox.Tenant); err != nil {
		return err
	}
	v.clockAt = time.Now()
	if !v.may(viewers) {
		return nil
	}
	if v.on, err = c.readFaultsOn(ctx, v); err != nil {
		return err
	}
	v.counts, err = c.readCounts(ctx, v.who.Sandbox.Tenant)
	return err
}

// serve calls the handler of a route. For a page, it repeats the call if the configuration changed meanwhile.
func (c *Console) serve(r *route, v *visit) (a httpfront.Answer, err error) {
	if r.do != nil {
		return r.do(c, v)
	}
	err = c.renewing(v, func() error {
		if err := c.readFrame(v.ctx(), v); err != nil {
			return err
		}
		shown, err := r.show(c, v)
		if err == nil {
			a = v.html(max(shown.status, http.StatusOK), framed(v, shown))
		}
		return err
	})
	return a, err
}

// renewing calls f. If f returns [postgres.ErrConfigChanged], renewing loads the new configuration of the sandbox and
// calls f again. Unlike [service.Service.Renewing], it also calls f for a suspended sandbox.
func (c *Console) renewing(v *visit, f func() error) error {
	return service.RenewingBy(f, func() error {
		if err := c.Directory.Refresh(v.request.Context()); err != nil {
			return err
		}
		sandbox, ok := c.Directory.ByName(v.namespace, v.name)
		if !ok || sandbox.OrganizationID != v.who.Sandbox.OrganizationID {
			return sandboxes.ErrNoConsoleSession
		}
		v.who.Sandbox = sandbox
		return nil
	})
}

// visitOf returns the visit of a request, without the session.
func (c *Console) visitOf(w http.ResponseWriter, r *http.Request) *visit {
	v := &visit{
		request: r, writer: w, namespace: chi.URLParam(r, "namespace"), name: chi.URLParam(r, "name"),
		version: c.Version, dev: c.Dev, theme: assets.Theme(r), keysOff: keysOff(r),
	}
	v.path = strings.TrimPrefix(r.URL.Path, httpfront.SandboxPrefix(r)+"/console")
	origin, _ := static.AskedAt(r, nil, "")
	if c.APIURL != nil {
		origin = strings.TrimSuffix(c.APIURL.String(), "/")
	}
	v.uri = origin + httpfront.SandboxPrefix(r)
	v.apart = c.APIURL != nil && c.BaseURL != nil && !strings.EqualFold(c.APIURL.Host, c.BaseURL.Host)
	var chosen string
	if cookie, err := r.Cookie(languageCookie); err == nil {
		chosen = cookie.Value
	}
	v.Locale = locale.Of(chosen, r.Header.Get("Accept-Language"))
	return v
}

// ctx returns the context of the request.
func (v *visit) ctx() context.Context { return v.request.Context() }

// isOfNumber reports whether the session may use the number in the path. It returns true if the path has no number.
func (v *visit) isOfNumber() bool {
	number := chi.URLParam(v.request, "msisdn")
	return number == "" || v.session.Role != sandboxes.ConsoleHandset || number == v.session.MSISDN
}

// may reports whether the session has one of the roles.
func (v *visit) may(roles []sandboxes.ConsoleRole) bool {
	return v.session != nil && slices.Contains(roles, v.session.Role)
}

// firstPage returns the path of the first page for the session.
func (v *visit) firstPage() string {
	return strings.Replace(firstPages[v.session.Role], "{msisdn}", v.session.MSISDN, 1)
}

// opens reports whether a page with this path exists, and the session may open it.
func (v *visit) opens(path string) bool { return v.may(pages[path]) }

// To returns the relative URL of a path of the console, such as /overview. It is relative to the URL of the request,
// because an Ingress may serve the console under another path.
func (v *visit) To(path string) templ.SafeURL {
	return templ.SafeURL(cmp.Or(v.up()+strings.TrimPrefix(path, "/"), "./"))
}

// apiPage returns the URL of the page that describes the API, or an operator's own API. It is relative if the API has
// the same host as the console.
func (v *visit) apiPage(of payments.Operator) templ.SafeURL {
	page := strings.TrimSuffix("/docs/"+string(of), "/")
	if v.apart {
		return templ.SafeURL(v.uri + page)
	}
	return v.To("/.." + page)
}

// Asset returns the address of a file.
func (v *visit) Asset(name string) templ.SafeURL { return v.To("/assets/" + assets.Named(name)) }

// up returns the relative path from the URL of the request to the root of the console.
func (v *visit) up() string {
	if v.path == "" {
		return "console/"
	}
	return strings.Repeat("../", strings.Count(v.path, "/")-1)
}

// html returns an answer with a component as its body. The body is compressed if the browser accepts that. A page has
// both the token of its forms and texts of other people, so its compressed size depends on both. The size does not
// reveal the token: no other site can request a page with the session's cookie, which is SameSite=Strict.
func (v *visit) html(status int, body templ.Component) httpfront.Answer {
	header, zipped := secure.Clone(), strings.Contains(v.request.Header.Get("Accept-Encoding"), "gzip")
	if zipped {
		header.Set("Content-Encoding", "gzip")
	}
	return httpfront.Answer{Status: status, Header: header, Body: component{body, zipped}}
}

// goTo returns an answer that redirects the browser to a path of the console.
func (v *visit) goTo(path string) httpfront.Answer {
	header := secure.Clone()
	header.Set("Location", encodeControls(string(v.To(path))))
	return httpfront.Answer{Status: http.StatusSeeOther, Header: header}
}

// encodeControls encodes the characters that no URL has. Browsers leave out tabs and line breaks, so that a path with them
// would be another one.
func encodeControls(address string) string {
	var encoded strings.Builder
	for _, b := range []byte(address) {
		if b <= ' ' || b >= 0x7f {
			fmt.Fprintf(&encoded, "%%%02X", b)
		} else {
			encoded.WriteByte(b)
		}
	}
	return encoded.String()
}

// toSignIn returns the answer to somebody who is not signed in.
func (v *visit) toSignIn() httpfront.Answer {
	a := v.goTo("/sign-in")
	if v.request.Header.Get("Hx-Request") != "" { // htmx replaces the whole page, not an element of it
		a.Status = http.StatusUnauthorized
		a.Header.Set("HX-Redirect", a.Header.Get("Location"))
		a.Header.Del("Location")
	}
	return a
}

// component is the body of an answer that a template writes.
type component struct {
	templ.Component
	zipped bool // compressed by gzip
}

// zippers pools the writers that compress pages, because each of them has large tables.
var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level exists
	return z
}}

// ContentType implements [httpfront.Body].
func (component) ContentType() string { return "text/html; charset=utf-8" }

// Append implements [httpfront.Body]. It does not use the context of the request, because that context has ended.
// Templates do no I/O, so they need no context.
func (b component) Append(text []byte) ([]byte, error) {
	buffer := bytes.NewBuffer(text)
	if !b.zipped {
		err := b.Render(context.Background(), buffer)
		return buffer.Bytes(), err
	}
	z := zippers.Get().(*gzip.Writer)
	defer zippers.Put(z)
	z.Reset(buffer)
	err := errors.Join(b.Render(context.Background(), z), z.Close())
	return buffer.Bytes(), err
}
