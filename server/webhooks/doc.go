// Package webhooks builds, signs, sends and verifies the webhook events of sandboxes.
package webhooks

// Headers of a delivery, beside the three of the Standard Webhooks specification.
const (
	HeaderEvent             = "X-Service-Event"
	HeaderSignature         = "X-Service-Signature"
	HeaderPreviousSignature = "X-Service-Signature-Previous" // signature by the previous secret, during a rotation
	HeaderDelivery          = "X-Service-Delivery"           // id of the event, the same for every attempt

	HeaderStandardID        = "webhook-id"
	HeaderStandardTimestamp = "webhook-timestamp"
	HeaderStandardSignature = "webhook-signature"
)
