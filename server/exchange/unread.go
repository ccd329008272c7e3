package exchange

import "sync"

const (
	// largeAnswer is the minimum size in bytes of a large answer. A smaller answer fits into the buffers of a
	// connection.
	largeAnswer = 16 << 10
	// unreadOfProcess and unreadOfSandbox are the defaults of [UnreadBounds], in bytes.
	unreadOfProcess = 48 << 20
	unreadOfSandbox = 16 << 20
)

// UnreadBounds bound the bytes of large answers that clients have not read, over all sandboxes and for one sandbox.
type UnreadBounds struct{ Process, Sandbox int }

// unreadAnswers counts the bytes of large answers that are being written. If a client does not read its answer, the
// process keeps the answer in memory until the write deadline. A client may request many answers on many connections,
// so the sum is bounded. It is safe for concurrent use.
type unreadAnswers struct {
	bounds UnreadBounds

	mu  sync.Mutex
	all int
	of  map[string]int // bytes by organization of the sandbox
}

// take counts the bytes of an answer until release is called. It returns false if a bound would be exceeded. If no
// other large answer is unread, it always returns true.
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
