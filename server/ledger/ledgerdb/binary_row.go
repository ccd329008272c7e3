package ledgerdb

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// BinaryRow has the columns of a row that are not read yet, in the binary format of Postgres. The memory of the columns
// belongs to the connection.
type BinaryRow [][]byte

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

func (r *BinaryRow) optionalID() *payments.ID {
	column := r.next()
	if column == nil {
		return nil
	}
	id := payments.ID(column)
	return &id
}
