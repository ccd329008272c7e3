package ledgertest

import "context"

// EvaluateAll evaluates the expectations that are due, as a worker does, and returns of how many sandboxes they were.
func (s *Store) EvaluateAll(ctx context.Context) (sandboxes int, err error) {
	due, err := s.TenantsToEvaluate(ctx, 100)
	for _, tenant := range due {
		for {
			verdict, err := s.EvaluateExpectation(ctx, tenant.Tenant)
			if err != nil {
				return 0, err
			}
			if verdict == "" {
				break
			}
		}
	}
	return len(due), err
}
