package payments

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// ID identifies a transaction within the system. Its first seven bytes are the microseconds since the Unix epoch, so
// that ids sort by time; the other nine bytes are random, so that no id can be guessed.
type ID [16]byte

// ErrBadID is returned for a text that is no transaction id.
var ErrBadID = errors.New("not a transaction id")

const idPrefix = "TX_"

// crockford is Crockford's base 32: its digits are in ASCII order, so that the text sorts as the bytes do.
var crockford = base32.NewEncoding(crockfordDigits).WithPadding(base32.NoPadding)

const crockfordDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const codeLength = 26

// NewID makes an id from a time and a source of randomness. It returns the error of that source.
func NewID(at time.Time, random io.Reader) (ID, error) {
	id := FirstID(at)
	if _, err := io.ReadFull(random, id[7:]); err != nil {
		return ID{}, fmt.Errorf("making a transaction id: %w", err)
	}
	return id, nil
}

// FirstID returns an id that is greater than every id made before a time, and not greater than any id made at that time
// or later.
func FirstID(at time.Time) ID {
	var stamp [8]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(at.UnixMicro()))
	var id ID
	copy(id[:7], stamp[1:])
	return id
}

// LastID is the greatest id.
var LastID = ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// ParseID reads the text form of an id. It returns [ErrBadID] for anything else.
func ParseID(s string) (ID, error) {
	code, found := strings.CutPrefix(s, idPrefix)
	if !found {
		return ID{}, ErrBadID
	}
	return ParseCode(code)
}

// ParseCode reads an id without its prefix. It returns [ErrBadID] for anything else.
func ParseCode(code string) (ID, error) {
	if len(code) != codeLength {
		return ID{}, ErrBadID
	}
	raw, err := crockford.DecodeString(code)
	if err != nil || len(raw) != len(ID{}) { // the decoder skips line breaks
		return ID{}, ErrBadID
	}
	id := ID(raw)
	if id.Code() != code { // the last digit has bits to spare; only one text stands for an id
		return ID{}, ErrBadID
	}
	return id, nil
}

// Code returns the id without its prefix: 26 digits and capital letters.
func (id ID) Code() string { return crockford.EncodeToString(id[:]) }

// String returns the text form, TX_<code>.
func (id ID) String() string { return idPrefix + id.Code() }

// ProviderTxID returns the id that the simulated operator gives to the transaction, SIM_<code>. It is derived from the
// id instead of being stored. It differs from the id, so that a client that confuses the two gets an error.
func (id ID) ProviderTxID() string {
	return ProviderTxIDOf(sha256.Sum256(append([]byte("provider:"), id[:]...)))
}

// ProviderTxIDOf returns the id that the simulated operator gives to a transaction for which the digest was drawn.
func ProviderTxIDOf(digest [sha256.Size]byte) string {
	return "SIM_" + crockford.EncodeToString(digest[:10])
}
