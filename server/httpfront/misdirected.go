package httpfront

import "net/http"

// MisdirectedCode is the error code of [ErrMisdirected], and AllowedHostsFlag the flag that allows further hosts.
const (
	MisdirectedCode  = "misdirected_request"
	AllowedHostsFlag = "--allowed-hosts"
)

// ErrMisdirected is the error of a request under a host name that the server does not allow.
type ErrMisdirected struct{ Host string }

func (e ErrMisdirected) Error() string { return "misdirected: the request is for the host " + e.Host }

// RefuseHost returns a middleware that answers a request with [ErrMisdirected], as its front does. The
// function refused returns the name for which a request is refused; "" for none.
func (x *Pipeline) RefuseHost(refused func(*http.Request) string, frontOf func(*http.Request) *Front) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			host := refused(r)
			if host == "" {
				next.ServeHTTP(w, r)
				return
			}
			x.Handle(frontOf(r), func(http.ResponseWriter, *http.Request) (Answer, error) {
				return Answer{}, ErrMisdirected{host}
			})(w, r)
		})
	}
}
