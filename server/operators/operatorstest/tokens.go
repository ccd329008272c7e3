package operatorstest

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"
)

// issue answers with a token if the credentials are valid.
func (v *visit) issue(n native) (answer, error) {
	id, secret := n.grant(v)
	clients, few := v.Clients[v.operator]
	if id == "" || secret == "" || few && !slices.Contains(clients, ClientSecret{id, secret}) {
		return answer{}, problem{badCredentials, "the credentials are not valid"}
	}
	token := rand.Text()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tokens == nil {
		v.tokens = map[grant]time.Time{}
	}
	v.tokens[grant{v.operator, token}] = v.now().Add(n.valid)
	return answer{http.StatusOK, n.issued(token, n.valid)}, nil
}

// authorize returns an error for a request without a valid token. Clients of Moov need none.
func (v *visit) authorize(n native) error {
	if n.token == "" {
		return nil
	}
	scheme, token, _ := strings.Cut(v.r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return problem{badToken, "the access token is missing"}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.now().Before(v.tokens[grant{v.operator, token}]) {
		return problem{badToken, "the access token is invalid or has expired"}
	}
	return nil
}
