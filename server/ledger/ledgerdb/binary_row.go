package ledgerdb

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// LookUpColumns are the columns of a look-up, in the order in which [BinaryRow.Transaction] reads them: those that
// [payments.Transaction] needs.
const LookUpColumns = "reference, order_url, is_url_protected, description, scenario, currency, msisdn, " +
	"id, type, status, order_ref, store, env_id, operator, country, amount, commission, net_amount, absorption_pct, refunded, " +
	"latency_ms, created_at, completed_at, native_raw, merchant_balance_after, sim_balance_after, to_json(faults), native_id, " +
	"provider_tx_id, test_behavior, request_hash, parent_id"

// BinaryRow has the columns of a row that are not read yet, in the binary format of Postgres. The memory of the columns
// belongs to the connection.
type BinaryRow [][]byte

// Transaction returns the transaction of a row, as TransactionOf does for other rows. pgx would look for a way to scan
// each column of each statement, which takes longer than the rest of reading a row.
func (r *BinaryRow) Transaction() *payments.Transaction {
	t := &payments.Transaction{
		Details: payments.Details{
			Reference: r.text(), OrderURL: r.optionalText(), URLProtected: r.next()[0] != 0,
			Description: r.optionalText(), Scenario: payments.Scenario(r.text()), Currency: r.text(),
			MSISDN: r.text(),
		},
		ID: payments.ID(r.next()), Type: payments.Type(r.text()), Status: payments.Status(r.text()),
		OrderRef: r.text(), Store: r.text(), EnvironmentID: r.text(), Operator: payments.Operator(r.text()),
		Country: payments.Country(r.text()), Amount: r.Integer(), Commission: r.Integer(), NetAmount: r.Integer(),
		AbsorptionPct: int(r.Integer()), Refunded: r.Integer(),
		Latency: time.Duration(r.Integer()) * time.Millisecond, CreatedAt: *r.optionalTime(),
		CompletedAt: r.optionalTime(), NativeRaw: json.RawMessage(r.optionalBytes()),
		MerchantBalanceAfter: r.optionalInteger(), SIMBalanceAfter: r.optionalInteger(), Faults: r.texts(),
		NativeID: r.text(), DrawnProviderTxID: r.text(), TestBehavior: payments.Behavior(r.text()),
		NativeCall: NativeCall(r.next()),
	}
	if parent := r.next(); parent != nil {
		id := payments.ID(parent)
		t.ParentID = &id
	}
	return t
}

func (r *BinaryRow) next() []byte {
	column := (*r)[0]
	*r = (*r)[1:]
	return column
}

// text returns "" for a null.
func (r *BinaryRow) text() string { return string(r.next()) }

func (r *BinaryRow) optionalText() *string {
	column := r.next()
	if column == nil {
		return nil
	}
	text := string(column)
	return &text
}

// texts reads an array that was converted to JSON.
func (r *BinaryRow) texts() (all []string) {
	if column := r.next(); column != nil {
		_ = json.Unmarshal(column, &all) // Postgres made it
	}
	return all
}

func (r *BinaryRow) optionalBytes() []byte { return append([]byte(nil), r.next()...) }

// Integer reads a bigint or an integer.
func (r *BinaryRow) Integer() int64 {
	column := r.next()
	if len(column) == 4 {
		return int64(int32(binary.BigEndian.Uint32(column)))
	}
	return int64(binary.BigEndian.Uint64(column))
}

func (r *BinaryRow) optionalInteger() *int64 {
	if (*r)[0] == nil {
		r.next()
		return nil
	}
	n := r.Integer()
	return &n
}

// optionalTime reads a timestamp, which is in microseconds since the year 2000.
func (r *BinaryRow) optionalTime() *time.Time {
	micros := r.optionalInteger()
	if micros == nil {
		return nil
	}
	at := time.UnixMicro(*micros + year2000)
	return &at
}

var year2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
