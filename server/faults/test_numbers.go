package faults

import "github.com/cauri-dev/cauri/server/payments"

// OfTestNumber returns the fault that a test number with this behavior has for the webhook and for the operator's
// callback of its payments, nil for none. Its name has spaces, so that no resource can declare a fault of the same name.
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
