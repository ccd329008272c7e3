package localapi

import (
	"context"
	"time"
)

// pollInterval is the polling interval of [Manifests.Watch].
const pollInterval = 250 * time.Millisecond

// Watch calls changed after each change of the files since the manifests were read, until ctx ends. It polls the
// content of the files, because the operating system sends no events for a folder of another machine, such as a
// container's. A change counts when two polls in a row read the same content, so that no half-written file is read.
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
