package operatorapi

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// minute is the layout of the minute in the ids that operators give to transactions.
const minute = "060102.1504"

// DatedID returns an operator's id of a transaction: the prefix, the minute of its creation in UTC, a letter and five
// digits, as in MP210603.1234.L06941. Two transactions of a minute may have the same id.
func DatedID(prefix string, t *payments.Transaction) string {
	n := NumberOf(t)
	return fmt.Sprintf("%s%s.%c%05d", prefix, t.CreatedAt.UTC().Format(minute), 'A'+n%26, n/26%100_000)
}

// MinuteIn returns the minute in an id of [DatedID], in UTC. The parameter prefix has the number of letters before it.
func MinuteIn(id string, prefix int) (at time.Time, ok bool) {
	if len(id) < prefix+len(minute) {
		return time.Time{}, false
	}
	at, err := time.Parse(minute, id[prefix:prefix+len(minute)])
	return at, err == nil
}

// NumberOf returns a number for an operator's id of a transaction. It follows from the id that [payments.Transaction.ProviderTxID]
// returns, so it repeats in a sandbox with a seed.
func NumberOf(t *payments.Transaction) uint64 {
	hash := sha256.Sum256([]byte("operator:" + t.ProviderTxID()))
	return binary.BigEndian.Uint64(hash[:])
}
