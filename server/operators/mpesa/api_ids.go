package mpesa

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// nairobi is the zone of every time in requests, ids and callbacks (Documented). Kenya has no daylight saving time.
var nairobi = time.FixedZone("EAT", 3*60*60)

// timestamp is the layout of times in requests and callbacks.
const timestamp = "20060102150405"

// darajaID returns an id in the form of those that Daraja makes: 4, 4, 4 and 12 hexadecimal digits, and then 7
// decimal ones (Documented: 4 to 7). The parameter digits has 32 hexadecimal digits.
func darajaID(digits string) string {
	return fmt.Sprintf("%s-%s-%s-%s%d", digits[:4], digits[4:8], digits[8:12], digits[12:24], 1_000_000+numberIn(digits[24:])%9_000_000)
}

// derivedID returns the id of Daraja that belongs to a reference.
func derivedID(purpose, reference string) string {
	return darajaID(hex.EncodeToString(hashed(purpose, reference)))
}

// hashed returns 16 bytes that follow from a reference.
func hashed(purpose, reference string) []byte {
	hash := sha256.Sum256([]byte("mpesa " + purpose + ": " + reference))
	return hash[:16]
}

// merchantRequestID returns the MerchantRequestID of a push, which follows from its CheckoutRequestID.
func merchantRequestID(checkout string) string { return derivedID("merchant request", checkout) }

// checkoutID returns the CheckoutRequestID of a push: the time in Nairobi with one digit more, and the national number
// (Documented). That the digit has the tenths of a second is Assumed.
func checkoutID(at time.Time, msisdn string) string {
	at = at.In(nairobi)
	national := strings.TrimPrefix(msisdn, "+254")
	return "ws_CO_" + at.Format("02012006150405") + strconv.Itoa(at.Nanosecond()/int(100*time.Millisecond)) + national
}

// conversationID returns a ConversationID: a day in Nairobi and 20 hexadecimal digits, which follow from a reference
// (Documented).
func conversationID(at time.Time, reference string) string {
	return "AG_" + at.In(nairobi).Format("20060102") + "_2010" + hex.EncodeToString(hashed("conversation", reference))[:16]
}

// The parts of a receipt: the date, and 7 characters of 36. They have the minute of the day and a number.
const (
	minutesOfDay    = 24 * 60
	numbersInMinute = 78_364_164_096 / minutesOfDay // 36 to the power of 7
)

// firstYear is the year whose letter is A.
const firstYear = 2006

// receiptDate returns the first three characters of a receipt: letters of the year and of the month, and a day, in Nairobi
// (Documented).
func receiptDate(at time.Time) string {
	at = at.In(nairobi)
	const days = "123456789ABCDEFGHIJKLMNOPQRSTUV"
	year := ((at.Year()-firstYear)%26 + 26) % 26
	return string([]byte{'A' + byte(year), 'A' + byte(at.Month()-1), days[at.Day()-1]})
}

// receiptOf returns the receipt of a transaction, MpesaReceiptNumber or TransID: the date of its creation, and 7
// characters. Two transactions of a minute may have the same one. That of a payment that its payer started is its
// reference, and a push whose shop was told of a receipt before has that one.
func receiptOf(t *payments.Transaction) string {
	if t.NativeCall == c2bCall {
		return t.Reference
	}
	if told := keptOf(t.NativeSent).Receipt; told != "" {
		return told
	}
	return receiptFor(t.CreatedAt, operatorapi.NumberOf(t))
}

// receiptFor returns the receipt of a time and a number.
func receiptFor(at time.Time, number uint64) string {
	at = at.In(nairobi)
	minute := uint64(at.Hour()*60 + at.Minute())
	rest := strconv.FormatUint(minute*numbersInMinute+number%numbersInMinute, 36)
	return receiptDate(at) + strings.ToUpper(fmt.Sprintf("%07s", rest))
}

// minuteOf returns the minute in which the transaction with a receipt was created. A receipt repeats the letter of the
// year after 26 years: the year is the last one with this letter that is not after now.
func minuteOf(receipt string, now time.Time) (minute time.Time, ok bool) {
	if len(receipt) != 10 || receipt[0] < 'A' || receipt[0] > 'Z' || receipt[1] < 'A' || receipt[1] > 'L' {
		return time.Time{}, false
	}
	rest, err := strconv.ParseUint(receipt[3:], 36, 64)
	if err != nil || strings.ToUpper(receipt) != receipt {
		return time.Time{}, false
	}
	year := now.In(nairobi).Year()
	for (year-firstYear-int(receipt[0]-'A'))%26 != 0 {
		year--
	}
	day := strings.IndexByte("123456789ABCDEFGHIJKLMNOPQRSTUV", receipt[2]) + 1
	of := int(min(rest/numbersInMinute, minutesOfDay-1))
	minute = time.Date(year, time.Month(receipt[1]-'A'+1), day, of/60, of%60, 0, 0, nairobi)
	return minute, day > 0 && receiptDate(minute) == receipt[:3]
}
