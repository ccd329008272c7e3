package main

import (
	"bytes"
	"fmt"

	"github.com/cauri-dev/cauri/server/postgres/queries"
)

// singles are the statements that record one transaction, and groups those that record several.
var (
	singles = []string{"BookCollection", "RecordCollection", "BookDisbursement", "BookRefund"}
	groups  = []string{"BookCollections", "BookDisbursements"}
)

// renderRecording returns the file that gives transactions to statements.
func renderRecording(s structs) ([]byte, error) {
	b := header("ledger", list)
	b.WriteString("import (\n\"github.com/cauri-dev/cauri/server/payments\"\n\"github.com/cauri-dev/cauri/server/ledger/ledgerdb\"\n" +
		"\"github.com/cauri-dev/cauri/server/postgres\"\n\"github.com/cauri-dev/cauri/server/postgres/sqlc\"\n)\n")
	for _, name := range singles {
		fmt.Fprintf(b, "\n// set%[1]s sets the columns of a transaction. hash is the hash of its request.\n"+
			"func set%[1]s(p *sqlc.%[1]sParams, t *payments.Transaction, hash []byte) {\n", name)
		for _, c := range queries.Columns {
			given := c.Request || c.Outcome || c.Kind == queries.ID
			if name == "BookRefund" {
				given = c.OfRefund || c.Kind == queries.ID
			}
			if field := s.field(name+"Params", c.Name); given && field != "" {
				fmt.Fprintf(b, "p.%s = %s\n", field, valueOf(c))
			}
		}
		b.WriteString("}\n")
	}
	for _, name := range groups {
		fmt.Fprintf(b, "\n// add%[1]s appends the columns of a transaction. hash is the hash of its request.\n"+
			"func add%[1]s(p *sqlc.%[1]sParams, t *payments.Transaction, hash []byte) {\n", name)
		for _, c := range queries.Columns {
			appendEach(b, s, name+"Params", c)
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n// nativeCollection returns the parameters of RecordNativeCollection that RecordCollection has too.\n" +
		"func nativeCollection(p *sqlc.RecordCollectionParams) sqlc.RecordNativeCollectionParams {\nreturn sqlc.RecordNativeCollectionParams{\n")
	for _, c := range s["RecordCollectionParams"] {
		fmt.Fprintf(b, "%[1]s: p.%[1]s,\n", c.field)
	}
	b.WriteString("}\n}\n")
	for _, name := range append(singles, groups...) {
		if len(s[name+"Params"]) == 0 {
			return nil, fmt.Errorf("%s: %w", name, errMissing)
		}
	}
	return b.Bytes(), nil
}

// appendEach appends a column to its array, and to the one that marks texts that are there.
func appendEach(b *bytes.Buffer, s structs, params string, c queries.Column) {
	if field := s.field(params, c.Marks); c.Marks != "" {
		fmt.Fprintf(b, "p.%[1]s = append(p.%[1]s, t.%[2]s != nil)\n", field, c.Field)
	}
	value := valueOf(c)
	if c.Kind == queries.OptionalText {
		value = "ledgerdb.OrEmpty(" + value + ")"
	}
	if field := s.field(params, c.Each); c.Each != "" && field != "" {
		fmt.Fprintf(b, "p.%[1]s = append(p.%[1]s, %[2]s)\n", field, value)
	}
}

// valueOf returns the value of a column as a statement takes it.
func valueOf(c queries.Column) string {
	value := "t." + c.Field
	switch {
	case c.Kind == queries.Call:
		return "hash"
	case c.Kind == queries.Float:
		return "floatOf(t)"
	case c.Kind == queries.ID:
		return "postgres.UUID(" + value + ")"
	case c.Kind == queries.SmallNumber:
		return "int32(" + value + ")"
	case c.Kind == queries.Milliseconds:
		return "int32(" + value + ".Milliseconds())"
	case c.As != "":
		return "string(" + value + ")"
	}
	return value
}
