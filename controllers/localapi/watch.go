package localapi

import (
	"context"
	"time"
)

// pollInterval is how often [Manifests.Watch] looks at the files.
const pollInterval = 250 * time.Millisecond

// Watch calls changed after each change of the files since the manifests were read, until ctx ends. It looks at the content of the files
// again and again instead of asking the operating system for events: those do not come from a folder of another machine, such as a
// container's. A change counts when the content was the same twice, so that no half-written file is read.
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
