package queries

import (
	"fmt"
	"slices"
	"strings"
)

// Kind says which type a column has in Go, in a payments.Transaction, and whether it may be null.
type Kind int

// The kinds of columns.
const (
	Text           Kind = iota
	OptionalText        // nil for null
	TextOrEmpty         // empty for null
	Flag                // a boolean
	Number              // a bigint
	OptionalNumber      // nil for null
	SmallNumber         // an integer
	Milliseconds        // an integer for a duration
	Moment              // a time
	OptionalMoment      // nil for null
	JSON                // nil for null
	Texts               // nil for null
	ID                  // a UUID
	OptionalID          // nil for null
	Call                // the hash of a request, or the name of a call
	Float               // the currency of the float
)

// Column is a column of a transaction. A field of a payment is a column here, in the schema, and in payments.Transaction:
// the statements and the Go code that record and read it follow from this list.
type Column struct {
	Name  string
	Field string // of payments.Transaction; empty: it is only written
	Kind  Kind
	As    string // its type in package payments; empty: that of its kind

	Request bool // the request decides it: each statement that records a transaction is given it
	Outcome bool // what decides the outcome gives it to statements that record a collection
	// Each is the array of a group commit that has it. An array of texts has no null: Marks is the array that says which
	// text is there, or empty if an empty text is none.
	Each, Marks string
	// OfRefund: each refund has a value of its own, and not the one of its parent.
	OfRefund bool
}

// Columns are the columns of a transaction that a request gives or a caller reads, in the order in which they are read.
var Columns = []Column{
	{Name: "reference", Field: "Reference", Request: true, Each: "refs", OfRefund: true},
	{Name: "request_hash", Field: "NativeCall", Kind: Call, Request: true, Each: "request_hashes", OfRefund: true},
	{Name: "order_ref", Field: "OrderRef", Request: true, Each: "order_refs"},
	{Name: "order_url", Field: "OrderURL", Kind: OptionalText, Request: true, Each: "order_urls"},
	{Name: "is_url_protected", Field: "URLProtected", Kind: Flag, Request: true, Each: "urls_protected"},
	{Name: "store", Field: "Store", Request: true, Each: "stores"},
	{
		Name: "description", Field: "Description", Kind: OptionalText, Request: true, Each: "descriptions", Marks: "described",
		OfRefund: true,
	},
	{Name: "env_id", Field: "EnvironmentID", Request: true, Each: "env_ids"},
	{Name: "operator", Field: "Operator", As: "Operator", Request: true, Each: "operators"},
	{Name: "country", Field: "Country", As: "Country", Request: true, Each: "countries"},
	{Name: "currency", Field: "Currency", Request: true, Each: "currencies"},
	{Name: "msisdn", Field: "MSISDN", Request: true, Each: "msisdns"},
	{Name: "amount", Field: "Amount", Kind: Number, Request: true, Each: "amounts"},
	{Name: "absorption_pct", Field: "AbsorptionPct", Kind: SmallNumber, Request: true, Each: "absorption_pcts"},
	{Name: "float_currency", Kind: Float, Request: true},

	{Name: "scenario", Field: "Scenario", As: "Scenario", Outcome: true, Each: "scenarios"},
	{Name: "commission", Field: "Commission", Kind: Number, Outcome: true, Each: "commissions"},
	{Name: "net_amount", Field: "NetAmount", Kind: Number, Outcome: true, Each: "net_amounts"},
	{Name: "latency_ms", Field: "Latency", Kind: Milliseconds, Outcome: true},

	{Name: "id", Field: "ID", Kind: ID, Each: "ids"},
	{Name: "type", Field: "Type", As: "Type"},
	{Name: "status", Field: "Status", As: "Status"},
	{Name: "refunded", Field: "Refunded", Kind: Number},
	{Name: "created_at", Field: "CreatedAt", Kind: Moment},
	{Name: "completed_at", Field: "CompletedAt", Kind: OptionalMoment},
	{Name: "native_raw", Field: "NativeRaw", Kind: JSON},
	{Name: "merchant_balance_after", Field: "MerchantBalanceAfter", Kind: OptionalNumber},
	{Name: "sim_balance_after", Field: "SIMBalanceAfter", Kind: OptionalNumber},
	{Name: "faults", Field: "Faults", Kind: Texts},
	{Name: "native_id", Field: "NativeID", Kind: TextOrEmpty},
	{Name: "provider_tx_id", Field: "DrawnProviderTxID", Kind: TextOrEmpty},
	{Name: "test_behavior", Field: "TestBehavior", Kind: TextOrEmpty, As: "Behavior"},
	{Name: "parent_id", Field: "ParentID", Kind: OptionalID},
}

// ofRequest are the columns that a request decides.
func ofRequest() []Column {
	return slices.DeleteFunc(slices.Clone(Columns), func(c Column) bool { return !c.Request })
}

// sqlTypes are the types of the columns that a group commit has in arrays.
var sqlTypes = map[Kind]string{
	Text: "text", OptionalText: "text", Flag: "boolean", Number: "bigint", SmallNumber: "integer", Call: "bytea",
}

// requestColumns has the names of the columns that a request decides.
func requestColumns() string { return eachOf(func(c Column) string { return c.Name }) }

// requestValues has their values in a statement for one request.
func requestValues() string {
	return eachOf(func(c Column) string {
		if c.Kind == OptionalText {
			return "sqlc.narg(" + c.Name + ")"
		}
		return "sqlc.arg(" + c.Name + ")"
	})
}

// refundValues has their values in the statement that records a refund of the row parent.
func refundValues() string {
	return eachOf(func(c Column) string {
		switch {
		case c.Name == "amount":
			return "decided.asked"
		case !c.OfRefund:
			return "parent." + c.Name
		case c.Kind == OptionalText:
			return "sqlc.narg(" + c.Name + ")::text"
		}
		return "sqlc.arg(" + c.Name + ")"
	})
}

// requestArrays has the columns of the requests of a group commit, from its arrays.
func requestArrays() string {
	return eachOf(func(c Column) string {
		if c.Each == "" {
			return ""
		}
		array := fmt.Sprintf("unnest(sqlc.arg(%s)::%s[]) as %s", c.Each, sqlTypes[c.Kind], c.Name)
		if c.Marks != "" {
			return fmt.Sprintf("unnest(sqlc.arg(%[1]s)::boolean[]) as %[1]s, %[2]s", c.Marks, array)
		}
		return array
	})
}

// arrayValues has the values of the columns for a request d of a group commit.
func arrayValues() string {
	return eachOf(func(c Column) string {
		switch {
		case c.Each == "":
			return "sqlc.arg(" + c.Name + ")"
		case c.Marks != "":
			return fmt.Sprintf("case when d.%s then d.%s end", c.Marks, c.Name)
		case c.Kind == OptionalText:
			return "nullif(d." + c.Name + ", '')"
		}
		return "d." + c.Name
	})
}

// eachOf joins what f says of each column that a request decides, in lines of at most 100 characters.
func eachOf(f func(Column) string) string {
	var all strings.Builder
	length := 0
	for _, c := range ofRequest() {
		part := f(c)
		switch {
		case part == "":
			continue
		case all.Len() == 0:
		case length+len(part) > 95:
			all.WriteString(",\n    ")
			length = 0
		default:
			all.WriteString(", ")
		}
		all.WriteString(part)
		length += len(part) + 2
	}
	return all.String()
}
