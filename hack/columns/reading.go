package main

import (
	"fmt"
	"strings"

	"github.com/cauri-dev/cauri/server/postgres/queries"
)

// reading is how a kind of column is read: from a row of package sqlc, of which %s is the field, and from a binary row.
type reading struct{ row, binary string }

var readings = map[queries.Kind]reading{
	queries.Text:           {"row.%s", "r.text()"},
	queries.OptionalText:   {"row.%s", "r.optionalText()"},
	queries.TextOrEmpty:    {"OrEmpty(row.%s)", "r.text()"},
	queries.Flag:           {"row.%s", "r.next()[0] != 0"},
	queries.Number:         {"row.%s", "r.Integer()"},
	queries.OptionalNumber: {"row.%s", "r.optionalInteger()"},
	queries.SmallNumber:    {"int(row.%s)", "int(r.Integer())"},
	queries.Milliseconds:   {"time.Duration(row.%s) * time.Millisecond", "time.Duration(r.Integer()) * time.Millisecond"},
	queries.Moment:         {"row.%s", "*r.optionalTime()"},
	queries.OptionalMoment: {"row.%s", "r.optionalTime()"},
	queries.JSON:           {"row.%s", "r.optionalBytes()"},
	queries.Texts:          {"row.%s", "r.texts()"},
	queries.ID:             {"row.%s.Bytes", "payments.ID(r.next())"},
	queries.OptionalID:     {"IDOrNone(row.%s)", "r.optionalID()"},
	queries.Call:           {"NativeCall(row.%s)", "NativeCall(r.next())"},
}

// renderReading returns the file that reads transactions.
func renderReading(s structs) ([]byte, error) {
	b := header("ledgerdb", list)
	b.WriteString("import (\n\"time\"\n\n\"github.com/cauri-dev/cauri/server/payments\"\n" +
		"\"github.com/cauri-dev/cauri/server/postgres/sqlc\"\n)\n\n" +
		"// The columns of tables, in the order of the fields of their structs in package sqlc.\nconst (\n")
	for _, of := range []string{"Transaction", "DeliveryAttempt", "CallbackAttempt"} {
		constant, err := s.constant(of, of+"Columns")
		if err != nil {
			return nil, err
		}
		b.WriteString(constant)
	}
	var names []string
	var rows, binaries strings.Builder
	for _, c := range queries.Columns {
		if c.Field == "" {
			continue
		}
		field, reads := s.field("Transaction", c.Name), readings[c.Kind]
		if field == "" || reads.row == "" {
			return nil, fmt.Errorf("%s: %w", c.Name, errMissing)
		}
		name := c.Name
		if c.Kind == queries.Texts {
			name = "to_json(" + name + ")"
		}
		names = append(names, name)
		fmt.Fprintf(&rows, "t.%s = %s\n", c.Field, as(c, fmt.Sprintf(reads.row, field)))
		fmt.Fprintf(&binaries, "t.%s = %s\n", c.Field, as(c, reads.binary))
	}
	fmt.Fprintf(b, ")\n\n// LookUpColumns are the columns of a look-up, in the order in which [BinaryRow.Transaction] reads them.\n"+
		"const LookUpColumns = %q\n\n"+
		"// TransactionOf returns the transaction in a row.\n"+
		"func TransactionOf(row *sqlc.Transaction) *payments.Transaction {\nt := &payments.Transaction{}\n%sreturn t\n}\n\n"+
		"// Transaction returns the transaction of a row, as [TransactionOf] does for other rows. pgx would look for a way to scan\n"+
		"// each column of each statement, which takes longer than the rest of reading a row.\n"+
		"func (r *BinaryRow) Transaction() *payments.Transaction {\nt := &payments.Transaction{}\n%sreturn t\n}\n",
		strings.Join(names, ", "), rows.String(), binaries.String())
	return b.Bytes(), nil
}

// as returns a value in the type of its field.
func as(c queries.Column, value string) string {
	if c.As == "" || strings.HasPrefix(value, "row.") && (c.As == "Type" || c.As == "Status") {
		return value
	}
	return "payments." + c.As + "(" + value + ")"
}
