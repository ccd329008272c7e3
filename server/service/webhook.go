package service

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/ledger"
)

// ReadWebhook returns the endpoint of the sandbox's events, the health of their delivery, and the fingerprints of the
// secrets that sign them.
func (s *Service) ReadWebhook(ctx context.Context, who *Caller) (webhook *ledger.Webhook, err error) {
	err = s.Renewing(ctx, who, func(ctx context.Context) error {
		webhook, err = s.ledger.ReadWebhook(ctx, who.Sandbox.Tenant)
		return err
	})
	return webhook, err
}

// WhyCallbacksFail returns unacknowledged callbacks with why they are so.
func (s *Service) WhyCallbacksFail(
	ctx context.Context, who *Caller, found []ledger.UnacknowledgedCallbacks,
) (all []ledger.FailingCallbacks, err error) {
	for i := range found {
		newest, err := s.ReadEvent(ctx, who, found[i].Newest)
		if errors.Is(err, ledger.ErrNotFound) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		failing := ledger.FailingCallbacks{UnacknowledgedCallbacks: found[i], URL: newest.Callback.URL}
		for j := range newest.History {
			if a := &newest.History[j]; a.Error != nil && len(a.Faults) == 0 {
				failing.Failure = *a.Error
			}
		}
		all = append(all, failing)
	}
	return all, nil
}
