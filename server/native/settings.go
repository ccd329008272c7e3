package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// Keep implements [operatorapi.Sandbox].
func (s *sandbox) Keep(ctx context.Context, name string, value any) error {
	encoded, err := json.Marshal(value)
	switch {
	case err != nil:
		return fmt.Errorf("keeping %s: %w", name, err)
	case !isReference(name) || len(encoded) > operatorapi.MaxKept:
		return fmt.Errorf("keeping %d bytes under a name of %d bytes: too many", len(encoded), len(name))
	}
	return s.native.ledger.KeepNativeSetting(ctx, s.who.Sandbox.Tenant, &nativestore.Setting{
		Operator: s.api.Operator, Name: name, MadeWith: s.who.Key, Value: encoded,
	})
}

// Kept implements [operatorapi.Sandbox].
func (s *sandbox) Kept(ctx context.Context, name string, into any) error {
	if !isReference(name) {
		return operatorapi.Refuse(operatorapi.NotFound)
	}
	found, err := s.native.ledger.FindNativeSetting(ctx, s.who.Sandbox.Tenant, s.api.Operator, name)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && !s.holds(found.MadeWith) {
		return operatorapi.Refuse(operatorapi.NotFound)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(found.Value, into)
}

// ListPaid implements [operatorapi.Sandbox].
func (s *sandbox) ListPaid(
	ctx context.Context, in payments.Country, from, before time.Time, of payments.SentValue, skip int,
) ([]*payments.Transaction, error) {
	if skip > operatorapi.MaxSkipped {
		return nil, nil
	}
	return s.native.ledger.ListPaid(ctx, s.who.Sandbox.Tenant, lists.Paid{
		Operator: s.api.Operator, Country: in, From: from, Before: before, Sent: of, Skip: int32(max(skip, 0)), Most: operatorapi.MaxPaid,
	})
}
