package localapi

import (
	"context"
	"time"
)

// pollInterval is the polling interval of [Manifests.Watch].
const pollInterval = 250 * time.Millisecond

// Watch polls the files of the manifests, and calls changed after each change of their content, until ctx ends. It
// polls, because the operating system sends no events for mounted folders of another machine. It calls changed only
// after two polls with the same content, so that it ignores half-written files.
func (m Manifests) Watch(ctx context.Context, changed func()) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	reported := m.digest
	for last := reported; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := digestOf(m.paths)
		if now == last && now != reported {
			reported = now
			changed()
		}
		last = now
	}
}
