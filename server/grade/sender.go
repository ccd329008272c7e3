package grade

import (
	"context"
	"net/http"
	"net/http/httptrace"

	cause "github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Through returns a function that sends messages to a URL as events are sent.
func Through(sender *webhooks.Sender, url string) func(context.Context, Message) Answer {
	return func(ctx context.Context, m Message) Answer {
		m.Header.Set("User-Agent", sender.UserAgent())
		connected := false
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }})
		result := sender.Call(ctx, webhooks.Callback{URL: url, Method: http.MethodPost, Header: m.Header, Body: m.Body, Cuts: m.Cuts})
		answer := Answer{Status: result.Status, DurationMs: result.Duration.Milliseconds()}
		if result.Status == 0 {
			answer.Error, answer.Host, answer.Unreached = result.Err.Error(), cause.HostAndPortOf(url), !connected
			answer.Late = connected && result.Kind() == "timeout"
		}
		return answer
	}
}
