package native

import (
	"context"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// await makes an answer wait for the payer of the recorded transaction. After the wait, the function tell returns its
// body.
func (s *sandbox) await(a *httpfront.Answer, tell func(*operatorapi.Payment) any) {
	n, t, operation := s.native, s.recorded.Transaction, s.operation
	waiting := &sandbox{native: n, api: s.api, who: s.who} // without the body of the request, which may be large
	told := *a
	a.Await = func(ctx context.Context) (httpfront.Answer, error) {
		if !n.service.AwaitPayer(ctx, waiting.who.Sandbox, t.ID) {
			return told, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpfront.AnswerTimeout)
		defer cancel()
		p, err := waiting.Find(ctx, t.Reference, operation)
		if err != nil {
			n.pipeline.LogFailure(ctx, err)
			return told, nil
		}
		told.Body = answerOf(waiting.api, operatorapi.Answer{Body: tell(&p)}, nil).Body
		return told, nil
	}
}
