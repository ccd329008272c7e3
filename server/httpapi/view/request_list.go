package view

import (
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
)

// LoggedRequestOf returns the view of a logged request. The parameter declared has the faults of the sandbox.
func LoggedRequestOf(e *requests.Entry, declared faults.Set) wire.LoggedRequest {
	v := wire.LoggedRequest{
		ID: "log_" + e.ID.Code(), Time: payments.FormatTime(e.ReceivedAt), Method: e.Method, Path: e.Path, Error: optional(e.Error),
		Hint: optional(e.Hint), RequestID: optional(e.RequestID), Fault: optional(e.Fault), Actor: e.Actor, Query: e.Query,
		RequestBody: e.RequestBody, ResponseBody: e.ResponseBody, NotKept: e.NotKept,
	}
	if e.Status != 0 {
		v.Status = &e.Status
	}
	if e.Fault != "" {
		v.Effects = declared.Effects([]string{e.Fault})
	}
	if v.NotKept == nil {
		v.NotKept = []string{}
	}
	return v
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
