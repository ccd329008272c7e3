package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// issue gives a token to whoever has credentials.
func (v *visit) issue(n native) (answer, error) {
	clientID, clientSecret := n.grant(v)
	accepted, err := v.storage.AcceptsCredentials(v.r.Context(), v.in, v.operator, clientID, clientSecret)
	if err != nil {
		return answer{}, err
	}
	if !accepted {
		return answer{}, problem{badCredentials, "the credentials are not valid"}
	}
	var bytes [24]byte
	if _, err := io.ReadFull(v.random, bytes[:]); err != nil {
		return answer{}, fmt.Errorf("making a token: %w", err)
	}
	token := hex.EncodeToString(bytes[:])
	if err := v.storage.IssueToken(v.r.Context(), v.in.Tenant, v.operator, sha256.Sum256([]byte(token)), n.valid); err != nil {
		return answer{}, err
	}
	return answer{http.StatusOK, n.issued(token, n.valid)}, nil
}

// authorize lets a request through that carries a token that has not expired.
func (v *visit) authorize() error {
	scheme, token, _ := strings.Cut(v.r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return problem{badToken, "the access token is missing"}
	}
	valid, err := v.storage.TokenValid(v.r.Context(), v.in.Tenant, v.operator, sha256.Sum256([]byte(token)))
	if err != nil {
		return err
	}
	if !valid {
		return problem{badToken, "the access token is invalid or has expired"}
	}
	return nil
}
