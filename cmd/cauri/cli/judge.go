package cli

import (
	"context"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// await is the pause between two looks at what a judgement waits for.
const await = 250 * time.Millisecond

// Expected is what is expected of a sandbox.
type Expected struct {
	Lines    []expectations.Line
	Within   time.Duration
	Settle   time.Duration
	Since    string       // id of a transaction: only later ones count; empty: all
	Merchant *http.Client // asks the merchant's own program
}

// Expect waits until what happened in a sandbox is what is expected, or cannot be any more, as `cauri expect` does.
func Expect(ctx context.Context, api *sandboxapi.Client, what Expected) (expectations.State, error) {
	p := &program{now: time.Now, await: await}
	e := &expected{lines: what.Lines, within: what.Within, settle: what.Settle, since: what.Since, merchant: what.Merchant}
	all := []*expected{e}
	if err := p.begin(ctx, api, all); err != nil {
		return e.state, err
	}
	return e.state, p.judge(ctx, api, all)
}

// GradeBySandbox lets a sandbox check the receiver of its webhooks, and waits for the report card.
func GradeBySandbox(ctx context.Context, api *sandboxapi.Client, transaction string, allow bool) (*wire.ReceiverCheck, error) {
	p := &program{now: time.Now, await: await}
	return p.gradeBySandbox(ctx, api, &gradeOptions{tx: transaction, allow: allow})
}

// GradeFromHere checks a receiver on this machine with events that are signed with a secret. If known is not nil, the
// events are those of its payment.
func GradeFromHere(ctx context.Context, receiver, secret, version string, known *grade.Known, allow bool) (*wire.ReceiverCheck, error) {
	return runGrade(ctx, grade.Options{
		Allow: allow, Now: time.Now, Secret: secret, Known: known,
		Send: grade.Through(webhooks.NewSender(egress.Guard{AllowLoopback: true}, version, time.Now), receiver),
	})
}
