package wire

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/cauri-dev/cauri/server/payments"
)

// RequestHash tells whether two requests are the same: of one type, for the same parent if they have one, with the same known
// Fields as they were sent, before anything was detected or filled in.
func RequestHash(kind payments.Type, body Fields, parent string) []byte {
	text, err := json.Marshal(body) // of a map: its keys are sorted
	if err != nil {
		panic("encoding a decoded request: " + err.Error()) // it came from JSON
	}
	hash := sha256.Sum256([]byte(string(kind) + "\n" + parent + "\n" + string(text)))
	return hash[:]
}
