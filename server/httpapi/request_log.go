package httpapi

import (
	"cmp"
	"crypto/sha256"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// loggedRequest is what the request log may keep of a request, while the request is answered. Most requests are answered 2xx and are not
// logged: until it is known, only the beginning of the body is kept, in a buffer that requests share.
type loggedRequest struct {
	who      *service.Caller    // whose request it is; nil: nobody's
	stranger *sandboxes.Sandbox // to which it was made without a valid key; nil for none
	native   *operatorapi.API   // that it was made to; nil for Cauri's own
	code     string             // of the error that it was answered with
	sent     sentBody
	answered []byte // the beginning of the answer's body
}

// follow keeps the beginning of a request's body when it is read.
func (l *loggedRequest) follow(r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		l.sent.ReadCloser = r.Body
		r.Body = &l.sent
	}
}

// wanted reports whether a request is logged that is answered with a status, 0 for no answer.
func (l *loggedRequest) wanted(status int, at time.Time) bool {
	if l.who == nil {
		return l.stranger != nil
	}
	return status/100 != 2 || l.who.Sandbox.Watched(at)
}

// settle is called as soon as the status of the answer is known.
func (l *loggedRequest) settle(status int, at time.Time) {
	if !l.wanted(status, at) {
		l.sent.release()
	}
}

// write keeps the beginning of an answer's body if the request is logged.
func (l *loggedRequest) write(body []byte, status int, at time.Time) {
	if l.who != nil && l.wanted(status, at) {
		l.answered = append(l.answered, body[:min(len(body), requests.MaxBody-len(l.answered))]...)
	}
}

// sentBody is a request's body. It keeps its beginning as far as it was read.
type sentBody struct {
	io.ReadCloser
	kept *[requests.MaxBody]byte // nil before the first byte, and once it was released
	n    int
	all  bool // nothing more is kept
}

// sentBodies are buffers of requests that were answered.
var sentBodies = sync.Pool{New: func() any { return new([requests.MaxBody]byte) }}

// Read implements [io.Reader].
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.all {
		if b.kept == nil {
			b.kept = sentBodies.Get().(*[requests.MaxBody]byte)
		}
		b.n += copy(b.kept[b.n:], p[:n])
		b.all = b.n == len(b.kept)
	}
	return n, err
}

// begin is the beginning of the body.
func (b *sentBody) begin() []byte {
	if b.kept == nil {
		return nil
	}
	return b.kept[:b.n]
}

// release gives the buffer back.
func (b *sentBody) release() {
	b.all = true
	if b.kept != nil {
		sentBodies.Put(b.kept)
		b.kept = nil
	}
}

// claim notes whose request it is where a path that nothing answers asks for no key.
func (s *Server) claim(w http.ResponseWriter, r *http.Request) {
	key, ok := bearer(r)
	if !ok || s.directory == nil {
		return
	}
	w.(*response).logged.who = s.callerWith(r, sha256.Sum256([]byte(key)))
}

// stranger notes to which sandbox a request was made without a valid key, if the path names one.
func (s *Server) stranger(w http.ResponseWriter, r *http.Request) {
	if named, found := sandboxInPath(r); found {
		w.(*response).logged.stranger, _ = s.directory.ByName(named.namespace, named.name)
	}
}

// looks reports whether a route only shows what happens in a sandbox to who watches it.
func looks(route string) bool {
	return route == apidoc.ListRequests.Path || route == apidoc.OpenStream.Path
}

// logRequest records a request in the log of its sandbox, if it is to be logged, and what was answered.
func (s *Server) logRequest(r *http.Request, o *response, route, id string) {
	l := &o.logged
	defer l.sent.release()
	if s.requests == nil || !l.wanted(o.status, o.began) || o.status == http.StatusOK && looks(route) {
		return
	}
	k := keeperOf(r)
	e := requests.Entry{
		Kind: requests.Failed, ReceivedAt: o.began, Method: k.Method(r.Method), Path: k.Path(pathWithin(r.URL.Path)), Status: o.status,
		Error: l.code, RequestID: k.RequestID(id),
	}
	if l.who != nil {
		if f := cmp.Or(l.who.Faults.ToAnswer, l.who.Faults.ToStatus); f != nil {
			e.Fault = f.Name
		}
	}
	if l.who == nil {
		e.Tenant, e.Kind = l.stranger.Tenant, requests.Unauthenticated
		s.requests.Add(e)
		return
	}
	e.Tenant = l.who.Sandbox.Tenant
	if present, valid := s.directory.ByKey(l.who.Key); valid { // it may have been reset meanwhile
		e.Tenant = present.Tenant
	}
	if o.status/100 == 2 {
		e.Kind = requests.Succeeded
	}
	kept, answer := keptFields()[r.Method+" "+route], answerFields()
	if l.native != nil {
		answer = nativeFields(l.native)
		kept.body = answer
	}
	query, notQuery := k.Query(r.URL.RawQuery, kept.query)
	body, notBody := k.Request(l.sent.begin(), kept.body)
	e.Query, e.RequestBody, e.NotKept = query, body, append(notQuery, notBody...)
	e.ResponseBody = k.Answer(l.answered, answer)
	s.requests.Add(e)
}

// keeperOf takes from a request what may be kept of it. The credentials of every operator's own API are hidden in requests to all APIs.
func keeperOf(r *http.Request) *requests.Keeper {
	user, password, _ := r.BasicAuth()
	presented, apis := []string{user, password}, operators.NativeAPIs()
	for _, api := range apis {
		presented = append(presented, api.Key(r))
	}
	k := requests.NewKeeper(r.Header, presented...)
	for _, api := range apis {
		k.HideForm(api.SecretForm)
	}
	return k
}

// nativeFields are the fields that the request log keeps of an operator's own API.
func nativeFields(api *operatorapi.API) requests.Fields {
	all := requests.Fields{}
	for _, name := range api.Logged {
		all[name] = true
	}
	return all
}

// routeFields are the fields and parameters of a route that the request log keeps.
type routeFields struct{ query, body requests.Fields }

// keptFields are those of each route, by its method and its path: what the API's description names. None of them is a credential.
var keptFields = sync.OnceValue(func() map[string]routeFields {
	all := map[string]routeFields{}
	for _, o := range apidoc.Operations {
		f := routeFields{requests.Fields{}, requests.Fields{}}
		for _, p := range o.Parameters {
			if p.In == "query" {
				f.query[p.Name] = true
			}
		}
		if o.Body != nil {
			for name := range o.Body.Properties {
				f.body[name] = true
			}
		}
		all[o.Method+" "+o.Path] = f
	}
	return all
})

// foreign are the fields of answers that have what somebody else sent: receivers and operators.
var foreign = []string{"body", "payload", "raw", "responseBody", "requestBody"}

// answerFields are the fields of answers that the request log keeps: those of the API's description, and the fields and parameters that an
// error may be about.
var answerFields = sync.OnceValue(func() requests.Fields {
	all := requests.Fields{"query": true}
	for _, schema := range wire.Schemas.Map() {
		addFields(all, schema)
	}
	for _, route := range keptFields() {
		maps.Copy(all, route.query)
		maps.Copy(all, route.body)
	}
	for _, name := range foreign {
		delete(all, name)
	}
	return all
})

// addFields adds the fields of a schema at every level.
func addFields(all requests.Fields, schema *huma.Schema) {
	if schema == nil {
		return
	}
	for name, field := range schema.Properties {
		all[name] = true
		addFields(all, field)
	}
	addFields(all, schema.Items)
}
