package worker

import (
	"context"
	"sync"
)

// outside is the sweep of what needs somebody outside of the database: it takes rows under a lease, and works on up to so
// many at one time. It takes only as many as it can begin at once. What was taken is finished, also when ctx ends meanwhile.
func outside[T any](
	ctx context.Context, w *Worker, name string, concurrency int,
	take func(ctx context.Context, slots int) ([]T, error), work func(context.Context, *T),
) {
	free := make(chan struct{}, concurrency)
	for range concurrency {
		free <- struct{}{}
	}
	var onTheirWay sync.WaitGroup
	defer onTheirWay.Wait()
	w.sweep(ctx, name, func(ctx context.Context) (more bool, err error) {
		slots := takeSlots(ctx, free)
		if slots == 0 {
			return false, nil
		}
		taken, err := take(context.WithoutCancel(ctx), slots)
		for range slots - len(taken) {
			free <- struct{}{}
		}
		for i := range taken {
			onTheirWay.Go(func() {
				work(context.WithoutCancel(ctx), &taken[i])
				free <- struct{}{}
			})
		}
		return len(taken) == slots, err
	})
}

// takeSlots waits for one free slot and takes all that are free then. It returns 0 when ctx ends first.
func takeSlots(ctx context.Context, free chan struct{}) int {
	select {
	case <-ctx.Done():
		return 0
	case <-free:
	}
	for slots := 1; ; slots++ {
		select {
		case <-free:
		default:
			return slots
		}
	}
}
