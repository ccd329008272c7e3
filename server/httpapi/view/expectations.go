package view

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// EvaluationOf returns the view of an evaluation.
func EvaluationOf(sandbox *sandboxes.Sandbox, lines []expectations.Line, seen *observations.Observed) wire.Evaluation {
	e := wire.Evaluation{
		Met: true, Results: make([]wire.LineResult, len(lines)), Epoch: epochOf(seen.Tenant), EvaluatedAt: payments.FormatTime(seen.At),
	}
	for i := range lines {
		r := expectations.Check(sandbox.Known, &lines[i], &seen.Lines[i])
		e.Results[i] = wire.LineResult{Line: r.Line, Met: r.Met, Exceeded: r.Never, Observed: r.Observed}
		e.Met = e.Met && r.Met
	}
	if seen.Newest != nil {
		e.NewestTransaction = new(seen.Newest.String())
	}
	return e
}

// epochOf returns a text for a tenant number. The number itself would invite clients to compare epochs by size.
func epochOf(tenant int64) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("epoch"), uint64(tenant)))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// TooManyRows is 422 for lines whose evaluation takes longer than the statement timeout.
func TooManyRows() *wire.Error {
	return &wire.Error{Status: http.StatusUnprocessableEntity, Code: "too_many_rows", Message: expectations.UnreadableMessage}
}
