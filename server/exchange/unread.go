package exchange

import "sync"

const (
	// largeAnswer is the size in bytes from which an answer counts as large. The buffers of a connection hold about
	// that much.
	largeAnswer = 16 << 10
	// unreadOfProcess and unreadOfSandbox bound the bytes of unread large answers.
	unreadOfProcess = 48 << 20
	unreadOfSandbox = 16 << 20
)

// UnreadBounds bound how many bytes of large answers may wait for their readers at a time, in all sandboxes and in one.
type UnreadBounds struct{ Process, Sandbox int }

// unreadAnswers counts the bytes of large answers that are being written. A client that does not read makes the process
// keep an answer until the write deadline, and can ask for many on many connections. It is safe for concurrent use.
type unreadAnswers struct {
	bounds UnreadBounds

	mu  sync.Mutex
	all int
	of  map[string]int // by the sandbox's organization
}

// take counts the bytes of an answer until release is called. It returns false if a bound is exceeded. A single large
// answer always fits.
func (u *unreadAnswers) take(organization string, bytes int) (release func(), ok bool) {
	if bytes < largeAnswer {
		return func() {}, true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if of := u.of[organization]; of > 0 && of+bytes > u.bounds.Sandbox || u.all > 0 && u.all+bytes > u.bounds.Process {
		return nil, false
	}
	u.all += bytes
	u.of[organization] += bytes
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.all -= bytes
		if u.of[organization] -= bytes; u.of[organization] == 0 {
			delete(u.of, organization)
		}
	}, true
}
