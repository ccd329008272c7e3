package rules

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// testNumberRules are the rules about numbers that behave without a test client, which are an optional part of the service.
func testNumberRules() []suite.Rule {
	return []suite.Rule{
		{ID: "testnumbers/list", Check: testNumbersList,
			Text: "the list has the same twelve test numbers in every enabled environment, with what a payment and a disbursement end as"},
		{ID: "testnumbers/payments", Check: testNumbersPay,
			Text: "a payment from a test number, without operator and country, ends as the list says, or waits for the payer first"},
		{ID: "testnumbers/slow", Check: testNumbersSlow,
			Text: "the payer of the test number 909 takes 20 s, also in a sandbox without latency"},
		{ID: "testnumbers/disbursements", Check: testNumbersArePaid,
			Text: "a disbursement to a test number ends as the list says, and credits no test client"},
		{ID: "testnumbers/refund", Check: testNumbersRefund,
			Text: "a payment from a test number can be refunded"},
		{ID: "testnumbers/order", Check: testNumbersOrder,
			Text: "a scenario and the operator's limit are checked before a test number"},
		{ID: "testnumbers/client", Check: testNumbersClient,
			Text: "a test client takes the place of a test number"},
		{ID: "testnumbers/elsewhere", Check: testNumbersElsewhere,
			Text: "at another operator, whatever its policy for unknown numbers, a test number is unknown"},
	}
}

// outcomesOfTestNumbers are what a payment from a test number and a disbursement to it end as, by its last digits.
var outcomesOfTestNumbers = map[string][2]string{
	"901": {"SUCCESS", "SUCCESS"},
	"902": {"INSUFFICIENT_FUNDS", "SUCCESS"},
	"903": {"PIN_INVALID", "SUCCESS"},
	"904": {"USER_CANCELLED", "SUCCESS"},
	"905": {"TIMEOUT", "SUCCESS"},
	"906": {"ACCOUNT_BLOCKED", "ACCOUNT_BLOCKED"},
	"907": {"LIMIT_EXCEEDED", "SUCCESS"},
	"908": {"SERVICE_UNAVAILABLE", "SUCCESS"},
	"909": {"SUCCESS", "SUCCESS"},
	"910": {"SUCCESS", "SUCCESS"},
	"911": {"SUCCESS", "SUCCESS"},
	"912": {"SUCCESS", "SUCCESS"},
}

// waitingTestNumbers are those that the payer of is asked to confirm.
var waitingTestNumbers = map[string]string{
	"901": "Approve", "903": "WrongPin", "904": "Cancel", "905": "Ignore", "909": "Approve", "910": "Approve", "911": "Approve", "912": "Approve",
}

// testNumber is an item of the list.
type testNumber struct {
	msisdn, suffix string
	at             suite.Environment
	item           suite.Object
}

// testNumbers lists the test numbers that no test client has, and ends the check if there are none.
func testNumbers(c *suite.Check) []testNumber {
	list, _ := c.Expect(c.Get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !slices.Contains(list, any("test_numbers")) {
		c.NotChecked("the service has no capability test_numbers")
	}
	var numbers []testNumber
	for _, item := range c.Items(c.Expect(c.Get("/test_numbers"), http.StatusOK)) {
		msisdn, operator, country := suite.TextOf(item, "msisdn"), suite.TextOf(item, "operator"), suite.TextOf(item, "country")
		at := slices.IndexFunc(suite.Environments, func(e suite.Environment) bool { return e.Operator == operator && e.Country == country })
		if at < 0 {
			c.Fail("%s is of %s in %s, which the sandbox does not have", msisdn, operator, country)
		}
		if msisdn != suite.Taken.MSISDN {
			numbers = append(numbers, testNumber{msisdn, msisdn[max(0, len(msisdn)-3):], suite.Environments[at], item})
		}
	}
	if len(numbers) == 0 {
		c.NotChecked("the sandbox has no test numbers")
	}
	return numbers
}

// pay makes a payment from the number, without operator and country.
func (n testNumber) pay(c *suite.Check, changes suite.Object) suite.Object {
	return c.Pay(n.at, suite.Object{"msisdn": n.msisdn, "operator": suite.LeftOut{}, "country": suite.LeftOut{}}, changes)
}

func testNumbersList(c *suite.Check) {
	c.Needs(suite.Environments...)
	count := map[string]int{}
	for _, n := range testNumbers(c) {
		outcomes, known := outcomesOfTestNumbers[n.suffix]
		if !known {
			c.Problem("%s has other last digits than all test numbers", n.msisdn)
		}
		want := suite.Object{
			"currency": n.at.Currency, "collectionOutcome": outcomes[0], "disbursementOutcome": outcomes[1], "behavior": nil,
			"description": suite.AnyText, "msisdn": suite.Matching(`^\+[1-9][0-9]{6,14}$`),
		}
		if behavior, waits := waitingTestNumbers[n.suffix]; waits {
			want["behavior"] = behavior
		}
		c.Fields(n.msisdn, n.item, want)
		count[n.at.String()]++
	}
	for _, e := range suite.Environments {
		want := len(outcomesOfTestNumbers)
		if e == suite.Taken.Home {
			want--
		}
		if count[e.String()] != want {
			c.Problem("%s has %d test numbers beside those of test clients, want %d", e, count[e.String()], want)
		}
	}
}

func testNumbersPay(c *suite.Check) {
	for _, n := range testNumbers(c) {
		if n.suffix == "909" {
			continue // testnumbers/slow waits for one: nobody else's money may move later
		}
		p := n.pay(c, nil)
		want := suite.Object{
			"status": n.item["collectionOutcome"], "operator": n.at.Operator, "country": n.at.Country, "msisdn": n.msisdn, "scenario": nil,
		}
		if waitingTestNumbers[n.suffix] != "" {
			want["status"] = "PENDING"
		}
		c.Fields("a payment from "+n.msisdn, p, want)
		if want["status"] == "PENDING" && n.suffix != "905" {
			c.Fields("the same, settled", c.Settled(p), suite.Object{"status": n.item["collectionOutcome"]})
		}
	}
}

func testNumbersSlow(c *suite.Check) {
	numbers := testNumbers(c)
	n := numbers[slices.IndexFunc(numbers, func(n testNumber) bool { return n.suffix == "909" })]
	p := n.pay(c, nil)
	c.Fields("a payment from "+n.msisdn, p, suite.Object{"status": "PENDING", "latencyMs": suite.Between(20_000, 20_000)})
	c.Pause(20 * time.Second)
	settled := c.Settled(p)
	c.Fields("the same, settled", settled, suite.Object{"status": "SUCCESS"})
	created, err := time.Parse(time.RFC3339, suite.TextOf(settled, "createdAt"))
	completed, err2 := time.Parse(time.RFC3339, suite.TextOf(settled, "completedAt"))
	if took := completed.Sub(created); err != nil || err2 != nil || took < 20*time.Second {
		c.Problem("it took %v (%v, %v)", took, err, err2)
	}
}

func testNumbersArePaid(c *suite.Check) {
	for _, n := range testNumbers(c) {
		c.Fields("a disbursement to "+n.msisdn, c.Disburse(n.at, suite.Object{"msisdn": n.msisdn}), suite.Object{
			"status": n.item["disbursementOutcome"], "recipient_balance_after": nil,
		})
	}
}

func testNumbersRefund(c *suite.Check) {
	for _, n := range testNumbers(c) {
		if n.suffix == "901" {
			paid := c.Settled(n.pay(c, nil))
			c.Fields("a refund to "+n.msisdn, c.Refund(paid, nil), suite.Object{"status": "SUCCESS", "msisdn": n.msisdn})
		}
	}
}

func testNumbersOrder(c *suite.Check) {
	for _, n := range testNumbers(c) {
		c.Fields("a scenario for "+n.msisdn, n.pay(c, suite.Object{"scenario": "pin_invalid"}), suite.Object{
			"status": "PIN_INVALID",
		})
		if n.at.MaxAmount > 0 {
			p := n.pay(c, suite.Object{"amount": n.at.MaxAmount + 1})
			c.Fields("too much from "+n.msisdn, p, suite.Object{"status": "LIMIT_EXCEEDED"})
		}
	}
}

func testNumbersClient(c *suite.Check) {
	testNumbers(c)
	c.NeedsSIM(suite.Taken)
	if !strings.HasSuffix(suite.Taken.MSISDN, "908") {
		c.Fail("the test client has no test number")
	}
	settles(c, suite.Taken, "SUCCESS")
}

func testNumbersElsewhere(c *suite.Check) {
	c.Needs(suite.OrangeCI)
	for _, n := range testNumbers(c) {
		if n.at == suite.OrangeCI {
			continue
		}
		p := c.Pay(suite.OrangeCI, suite.Object{"msisdn": n.msisdn})
		c.Fields("a payment from "+n.msisdn+" at "+suite.OrangeCI.String(), p, suite.Object{"status": "UNKNOWN_MSISDN"})
	}
}
