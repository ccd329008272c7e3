package faults

import "github.com/cauri-dev/cauri/server/payments"

// OfTestNumber returns the fault of the webhook of a payment from a test number that behaves so, and of the operator's callback, nil for
// none. No resource can declare a fault of its name.
func OfTestNumber(b payments.Behavior) *Fault {
	switch b {
	case payments.ApproveWithoutCallback:
		return &Fault{Name: "test number 910", Webhook: &Webhook{Drop: true}, Operator: &Operator{Callback: &Callback{Drop: true}}}
	case payments.ApproveCallbackTwice:
		return &Fault{Name: "test number 911", Webhook: &Webhook{Duplicate: 2}, Operator: &Operator{Callback: &Callback{Duplicate: 2}}}
	case payments.ApproveCallbackFirst:
		return &Fault{
			Name: "test number 912", Webhook: &Webhook{BeforeAnswer: true}, Operator: &Operator{Callback: &Callback{BeforeAnswer: true}},
		}
	}
	return nil
}
