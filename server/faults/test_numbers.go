package faults

import "github.com/cauri-dev/cauri/server/payments"

// OfTestNumber returns the fault of the callback of a payment from a test number that behaves so, nil for none. No resource can declare a
// fault of its name.
func OfTestNumber(b payments.Behavior) *Fault {
	switch b {
	case payments.ApproveWithoutCallback:
		return &Fault{Name: "test number 910", Webhook: &Webhook{Drop: true}}
	case payments.ApproveCallbackTwice:
		return &Fault{Name: "test number 911", Webhook: &Webhook{Duplicate: 2}}
	case payments.ApproveCallbackFirst:
		return &Fault{Name: "test number 912", Webhook: &Webhook{BeforeAnswer: true}}
	}
	return nil
}
