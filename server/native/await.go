package native

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// await makes an answer wait for the payer of the recorded transaction. The function tell makes its body after the wait.
func (s *sandbox) await(a *exchange.Answer, tell func(*operatorapi.Payment) any) {
	n, t, operation := s.native, s.recorded.Transaction, s.operation
	waiting := &sandbox{native: n, api: s.api, who: s.who} // without the request, which may be large
	told := &laterBody{a.Body}
	if a.Header == nil {
		a.Header = http.Header{}
	}
	header := a.Header
	a.Body = told
	a.Await = func(ctx context.Context) {
		if !n.service.AwaitPayer(ctx, waiting.who.Sandbox, t.ID) {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exchange.AnswerTimeout)
		defer cancel()
		p, err := waiting.Find(ctx, t.Reference, operation)
		if err != nil {
			n.exchange.LogFailure(ctx, err)
			return
		}
		told.Body = answerOf(waiting.api, operatorapi.Answer{Body: tell(&p)}, nil).Body
		if f := waiting.who.Faults.ToStatus; f != nil {
			header.Add(faults.Header, f.Name)
		}
	}
}

// laterBody is a body that is replaced before it is encoded.
type laterBody struct{ exchange.Body }
