package cli

// exitCase is a call of a command. Its arguments get the sandbox, and -o json.
type exitCase struct {
	code int
	args string
	err  string // code of the error; may be empty for 0
	// by names a test that makes the case; the case is not run here.
	by string
}

// exitCases has, for each command, the calls that end with each exit code that it can have. What every command that uses a
// sandbox has is not here: a wrong flag, a wrong format, no sandbox, a wrong key, and an API that does not answer.
func exitCases(files map[string]string) map[string][]exitCase {
	const stories = "TestShopsInTheStoryTwiceAtOnce"
	return map[string][]exitCase{
		"status": {{args: ""}}, "tail": {{args: ""}}, "console": {{args: ""}}, "payers": {{args: ""}}, "numbers": {{args: ""}, {code: 2, args: "--country=ZZ", err: "invalid_arguments"}},
		"api":            {{args: "GET /payments"}, {code: 3, args: "GET /payments/TX_0SGCEVCRD35J7GWVBNSNZ5FWYM", err: "not_found"}},
		"payments":       {{args: ""}, {args: "PAID"}, {code: 3, args: "TX_0SGCEVCRD35J7GWVBNSNZ5FWYM"}},
		"clients":        {{args: ""}, {code: 3, args: "+250788000009", err: "not_found"}},
		"clients add":    {{args: "+250788000077 --name=new --operator=mtn --country=RW --balance=10"}, {code: 2, args: "nothing", err: "invalid_arguments"}},
		"clients change": {{args: "+250788000077 --balance=20"}, {code: 3, args: "+250788000009 --balance=20", err: "not_found"}},
		"clients remove": {{args: "+250788000077"}, {code: 3, args: "+250788000009", err: "not_found"}},
		"requests":       {{args: ""}, {code: 3, args: "log_1", err: "refused"}},
		"clock":          {{args: ""}},
		"clock show":     {{args: ""}},
		"clock advance":  {{args: "--by=1m", by: "TestAdvancingTheClock"}, {code: 2, args: "--by=soon", err: "invalid_arguments"}},
		"faults":         {{args: ""}}, "faults list": {{args: ""}},
		"faults on":  {{args: "slow --msisdn=+250788000009"}, {code: 2, args: "nothing", err: "invalid_arguments"}},
		"faults off": {{args: "--all"}, {code: 3, args: "nothing", err: "not_found"}},
		"stories":    {{args: ""}, {code: 2, args: "--limit=0", err: "invalid_arguments"}},
		"story":      {{args: "twice-at-once", by: stories}, {code: 5, args: "twice-at-once", by: stories}, {code: 3, args: "twice-at-once", err: "refused"}},
		"expect": {
			{args: "-f " + files["met"]}, {code: 5, args: "-f " + files["unmet"], err: "not_met"},
			{code: 2, args: "-f /none.yaml", err: "invalid_arguments"},
		},
		"pay": {
			{args: "--scenario=success"}, {code: 5, args: "--scenario=blocked", err: "unexpected_status"},
			{code: 4, args: "--timeout=1ms --msisdn=" + manual, err: "timeout"}, {code: 3, args: "--application=none --msisdn=" + alice, err: "not_found"},
			{code: 2, args: "--amount=0", err: "invalid_arguments"}, {code: 2, args: "--timeout=-1s", err: "invalid_arguments"},
		},
		"refund": {
			{args: "PAID --amount=1"}, {code: 5, args: "PAID --amount=1 --expect=TIMEOUT", err: "unexpected_status"},
			{code: 3, args: "PAID --amount=1000000", err: "exceeds_refundable"},
		},
		"payout":    {{args: "--amount=1 --msisdn=" + alice}, {code: 5, args: "--amount=1 --expect=TIMEOUT --msisdn=" + alice, err: "unexpected_status"}},
		"approve":   {{args: "WAITS"}, {code: 3, args: "+250788000009", err: "not_found"}},
		"cancel":    {{args: "WAITS"}, {code: 3, args: alice, err: "refused"}},
		"wrong-pin": {{args: "WAITS"}, {code: 3, args: "TX_0SGCEVCRD35J7GWVBNSNZ5FWYM", err: "not_found"}},
		"ledger":    {{args: ""}, {args: "--entries"}, {code: 3, args: "--msisdn=+250788000009", err: "refused"}},
		"events":    {{args: ""}, {code: 3, args: "evt_none", err: "not_found"}, {code: 2, args: "--all --limit=1", err: "invalid_arguments"}},
		"explain":   {{args: "PAID"}, {code: 3, args: "nothing", err: "not_found"}},
		"resend":    {{args: "--failed"}, {args: "EVENT"}, {code: 3, args: "evt_none", err: "not_found"}},
		"listen":    {{args: "--since=1h"}, {code: 2, args: "--forward-to=nowhere", err: "invalid_arguments"}},
		"verify": {
			{args: files["request"] + " --secret=" + listenSecret}, {code: 5, args: files["request"] + " --secret=whsec_dGVzdA==", err: "wrong_signature"},
			{code: 2, args: "/none --secret=a", err: "invalid_arguments"},
		},
		"grade": {
			{args: "--receiver=GOOD --secret=" + testSecret}, {code: 5, args: "--receiver=BAD --secret=" + testSecret, err: "bad_grade"},
			{code: 5, args: "--receiver=http://127.0.0.1:1 --secret=" + testSecret, err: "no_grade"},
		},
		"check":   {{args: "--pay=false"}, {code: 5, args: "NO-ANSWER", err: "check_failed"}, {code: 5, args: "REFUSED", err: "check_failed"}},
		"report":  {{args: "--file=" + files["report"]}, {code: 2, args: "--file=" + files["met"], err: "invalid_arguments"}},
		"list":    {{args: ""}},
		"use":     {{args: "checkout"}, {code: 3, args: "none", err: "not_found"}},
		"suspend": {{args: ""}}, "resume": {{args: ""}},
		"rotate": {{args: "key"}, {code: 2, args: "nothing", err: "invalid_arguments"}},
		"reset":  {{args: ""}, {code: 4, args: "--timeout=1ms SLOW", err: "timeout"}},
	}
}
