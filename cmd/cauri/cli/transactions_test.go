package cli

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// All types of transactions are listed, by each filter of the API, and one is found by its id and by its reference.
func TestPaymentsAreListed(t *testing.T) {
	f := newFixture(t)
	f.run("payments").want(t, ExitSuccess, "There are no transactions", "cauri pay --amount=1500")
	f.run("pay", "--scenario=success", "--amount=1500", "--reference=order-1", "--order-ref=basket").want(t, ExitSuccess)
	f.run("pay", "--scenario=timeout", "--expect=TIMEOUT", "--reference=order-2", "--msisdn="+manual).want(t, ExitSuccess)
	paid := decoded[wire.Payment](t, f.run("payments", "order-1", "-o", "json"))
	f.run("refund", paid.ID, "--amount=500", "--reference=back", "--wait=false").want(t, ExitSuccess)
	f.run("payout", "--msisdn="+alice, "--amount=100", "--reference=out", "--wait=false").want(t, ExitSuccess)
	all := f.run("payments")
	all.want(t, ExitSuccess, "TRANSACTION", paid.ID, "collection", "refund", "disbursement", "1500 RWF", "order-2", "cauri explain TX_")
	for args, want := range map[string]string{
		"":                                  "out back order-2 order-1",
		"--type=collection":                 "order-2 order-1",
		"--type=Refund":                     "back",
		"--type=disbursement":               "out",
		"--status=timeout":                  "order-2",
		"--msisdn=" + manual:                "order-2",
		"--order-ref=basket":                "back order-1",
		"--operator=mtn --country=rw":       "out back order-2 order-1",
		"--country=CI":                      "",
		"--application=shop --limit=1":      "out",
		"--application=other":               "",
		"--since=1h":                        "out back order-2 order-1",
		"--until=1h":                        "",
		"--since=2000-01-01T00:00:00Z":      "out back order-2 order-1",
		"--until=2000-01-01T00:00:00+01:00": "",
	} {
		var got []string
		for _, one := range entries[wire.Payment](t, f.run(append([]string{"payments", "-o=json"}, strings.Fields(args)...)...)) {
			got = append(got, one.Reference)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q lists %q, want %q", args, got, want)
		}
	}
	f.run("payments", "--country=CI").want(t, ExitSuccess, "There are no such transactions")
	for _, by := range []string{paid.ID, "order-1"} {
		f.run("payments", by).want(t, ExitSuccess, paid.ID, "Order      basket", "Net        1477 RWF", "Refunded   500 RWF", "cauri events --tx="+paid.ID)
	}
	f.run("payments", "back").want(t, ExitSuccess, "Refund of  "+paid.ID)
	if name := f.run("payments", "order-1", "-o=name"); name.out != paid.ID+"\n" {
		t.Errorf("its name is %q", name.out)
	}
	for _, missing := range []string{"order-3", "TX_0SGEKVCJ1EWG6DM7N4MYMYPG5M"} {
		none := f.run("payments", missing)
		none.want(t, ExitRefused, "no transaction has the id or the reference", "`cauri payments` lists them")
		if c := complaintOf(none.err); c.Error != "not_found" {
			t.Errorf("for programs it is %+v", c)
		}
	}
	for args, want := range map[string]string{
		"--type=payment": "write one of collection, refund, disbursement", "--status=FAILED": "write one of SUCCESS",
		"--operator=vodacom": "write one of mtn", "--country=ZZ": "write one of", "--msisdn=0788": "the whole number with +",
		"--since=yesterday": "write a time like", "--until=1": "write a time like", "a b": "one argument too many",
	} {
		f.run(append([]string{"payments"}, strings.Fields(args)...)...).want(t, ExitUsage, want)
	}
	completed := run(t, Options{}, "__complete", "payments", "--url="+f.url, "--api-key="+testKey, "TX")
	if !strings.Contains(completed.out, paid.ID+"\t1500 RWF") {
		t.Errorf("the completions are %q", completed.out)
	}
}
