package rules

import (
	"encoding/json"
	"testing"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func TestSplitOf(t *testing.T) {
	for _, test := range []struct {
		env                              suite.Environment
		amount                           int64
		commission, merchant, net, total int64
		mode                             string
	}{
		{suite.MtnRW, 25_000, 375, 375, 24_625, 25_000, "merchant"},
		{suite.MtnRW, 33, 0, 0, 33, 33, "merchant"},
		{suite.MtnRW, 100, 2, 2, 98, 100, "merchant"}, // 1.5 rounds up
		{suite.OrangeCI, 10_000, 275, 0, 10_000, 10_275, "customer"},
		{suite.AirtelRW, 10_000, 333, 167, 9_833, 10_166, "merchant"},
		{suite.AirtelRW, moneyAmount, 33, 17, moneyNet, moneyTotal, "merchant"},
		{suite.MoovBJ, 40, 1, 0, 40, 41, "customer"},
		{suite.MtnBJ, suite.LargestAmount, 999_900_000_000, 509_949_000_000, 490_051_000_000, 1_489_951_000_000, "merchant"},
	} {
		want := suite.Object{
			"commission": test.commission, "merchantShare": test.merchant, "customerShare": test.commission - test.merchant,
			"netAmount": test.net, "customerTotal": test.total, "commissionMode": test.mode,
		}
		got := suite.Object{}
		written, _ := json.Marshal(splitOf(test.env, test.amount).fields())
		_ = json.Unmarshal(written, &got)
		if problems := suite.Compare("", got, want); len(problems) > 0 {
			t.Errorf("%d by %s: %q", test.amount, test.env, problems)
		}
	}
}
