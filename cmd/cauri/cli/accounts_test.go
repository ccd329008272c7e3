package cli

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const awa = "+2250700000001"

// abroad is a sandbox with an environment in Rwanda and one in Côte d'Ivoire, with a test client that approves in the
// latter, one that cancels, and test numbers.
func abroad(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.config.TestNumbers = payments.StandardTestNumbers
	ci := f.config.Environments[0]
	ci.Operator, ci.Country = payments.Orange, payments.CoteDIvoire
	f.config.Environments = append(f.config.Environments, ci)
	f.apply(t)
	for uid, c := range map[string]sandboxes.TestClientConfig{
		"33333333-3333-3333-3333-000000000a01": {Name: "awa-kone", MSISDN: awa, Behavior: payments.Approve},
		"33333333-3333-3333-3333-000000000a02": {Name: "yao", MSISDN: "+2250700000000", Behavior: payments.Cancel},
	} {
		c.UID, c.Operator, c.Country, c.Balance = uid, payments.Orange, payments.CoteDIvoire, 50_000
		if _, err := f.store.ApplyTestClient(t.Context(), f.config.UID, c); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// apply applies the sandbox of the fixture.
func (f *fixture) apply(t *testing.T) {
	t.Helper()
	f.config.Generation++
	if _, err := f.store.ApplySandbox(t.Context(), f.config); err != nil {
		t.Fatal(err)
	}
	if err := f.directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestFlagsChooseThePayer(t *testing.T) {
	f := abroad(t)
	for flags, want := range map[string]string{
		"--country=CI": awa, "--country=ci": awa, "--currency=XOF": awa, "--currency=fcfa": awa, "--operator=orange": awa, "--operator=Orange": awa,
		"--name=awa-kone": awa, "--name=AWA": awa, "--name=Awa_Koné": awa, "--name=kone --country=CI": awa,
		"--country=RW": alice, "--currency=RWF --operator=mtn": alice, "--name=ali": alice,
		"": alice, "--amount=99": alice, // the first environment is hers
		"--amount=50001 --country=CI --no-wait": "+2250730000901", // more than the test client has
	} {
		args := append([]string{"pay", "-o", "json", "--amount=100"}, strings.Fields(strings.ReplaceAll(flags, "--no-wait", "--wait=false"))...)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "Awa_", "Awa ")
		}
		result := f.run(append(args, "--wait=false")...)
		if made := decoded[wire.Payment](t, result); made.MSISDN != want {
			t.Errorf("%s: %s pays, want %s", flags, made.MSISDN, want)
		}
	}
	f.config.Environments = []sandboxes.EnvironmentConfig{f.config.Environments[1], f.config.Environments[0]}
	f.apply(t)
	if made := decoded[wire.Payment](t, f.run("pay", "-o", "json", "--wait=false")); made.MSISDN != awa {
		t.Errorf("%s pays, want %s of the environment that is now the first", made.MSISDN, awa)
	}
	f.run("payout", "--country=RW", "--amount=1").want(t, ExitSuccess, "disbursement", "SUCCESS", alice)
	f.run("payout").want(t, ExitUsage, "no recipient: pass --msisdn, or choose")
	// The only one of this name does not approve, but is meant.
	f.run("pay", "--name=yao", "--wait=false").want(t, ExitSuccess, "+2250700000000", "XOF")
}

func TestNobodyFits(t *testing.T) {
	f := abroad(t)
	for _, flags := range []string{"--country=SN", "--country=CI --operator=mtn", "--currency=USD", "--name=nobody", "--operator=airtel"} {
		r := f.run(append([]string{"pay"}, strings.Fields(flags)...)...)
		r.want(t, ExitUsage, "no test client and no test number fits "+flags+". There are:\n  +2250700000000  Cancel  50000 XOF  orange/CI  yao\n", awa,
			alice, "\n  test numbers of orange/CI, mtn/RW: `cauri numbers` lists them")
	}
	f.run("pay", "--msisdn="+awa, "--name=awa").want(t, ExitUsage, "leave one of them out")
}

// Errors about a number give examples of its own country.
func TestExamplesAreOfTheNumbersCountry(t *testing.T) {
	f := newFixture(t)
	f.run("pay", "--msisdn=+2250505000001").want(t, ExitUsage, "such as --currency=XOF --operator=mtn --country=CI")
	f.run("pay", "--msisdn=+2252700000001").want(t, ExitUsage, "--currency=XOF", "--country=CI") // a fixed line
	f.run("pay", "--msisdn=+4915112345678").want(t, ExitUsage, "such as --currency=RWF --operator=mtn --country=RW")
	for _, wrong := range []string{"0700000001", "225 07", "+225x"} {
		r := f.run("pay", "--msisdn="+wrong)
		r.want(t, ExitUsage, "with + and the code of its country, digits only: +225 for CI, +250 for RW, +229 for BJ, +228 for TG")
		if strings.Contains(r.err.Error(), "+2507") {
			t.Errorf("%s: the example is Rwandan: %v", wrong, r.err)
		}
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	f := abroad(t)
	r := f.run("numbers")
	r.want(t, ExitSuccess, "orange in CI, XOF\n\nBEHAVIOR ", "\nThe payer approves  ", "+2250730000901", "\n\nmtn in RW, RWF\n\nBEHAVIOR ", "+250790000906")
	if strings.Count(r.out, "BEHAVIOR") != 2 || strings.Index(r.out, "+2250730000912") > strings.Index(r.out, "mtn in RW") {
		t.Errorf("they are not grouped:\n%s", r.out)
	}
	r = f.run("numbers", "--country=rw", "-o", "name")
	r.want(t, ExitSuccess, "+250790000901\n")
	if strings.Contains(r.out, "+225") || strings.Count(r.out, "\n") != len(payments.TestNumbers) {
		t.Errorf("--country=rw lists\n%s", r.out)
	}
	f.run("numbers", "--operator=airtel").want(t, ExitSuccess, "There are no such test numbers", "It has those of orange/CI, mtn/RW.")
	completed := run(t, Options{}, "__complete", "pay", "--url="+f.url, "--api-key="+testKey, "--msisdn", "")
	if completed.err != nil || !strings.Contains(completed.out, awa+"\tApprove  50000 XOF") ||
		!strings.Contains(completed.out, "+2250730000901\tThe payer approves.  orange/CI\n") {
		t.Errorf("completed is %v\n%s", completed.err, completed.out)
	}
}
