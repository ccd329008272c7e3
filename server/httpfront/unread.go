package httpfront

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
	all unread
	of  map[string]unread // by organization of the sandbox
}

// unread has the bytes of all callers, and of those among them who are guests.
type unread struct{ all, guests int }

// exceeded reports whether a bound has no room for more bytes. Guests may use at most half of the bound. The first
// answer always has room.
func (u unread) exceeded(bound, bytes int, guest bool) bool {
	return u.all > 0 && u.all+bytes > bound || guest && u.guests > 0 && u.guests+bytes > bound/2
}

func (u unread) plus(bytes int, guest bool) unread {
	u.all += bytes
	if guest {
		u.guests += bytes
	}
	return u
}

// acquire counts the bytes of an answer until release is called. It returns false if a bound would be exceeded. If no
// other large answer is unread, it always returns true. The answers of guests may use at most half of each bound, so
// that they do not keep out the holder of the API key.
func (u *unreadAnswers) acquire(organization string, guest bool, bytes int) (release func(), ok bool) {
	if bytes < largeAnswer {
		return func() {}, true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	of := u.of[organization]
	if of.exceeded(u.bounds.Sandbox, bytes, guest) || u.all.exceeded(u.bounds.Process, bytes, guest) {
		return nil, false
	}
	u.all, u.of[organization] = u.all.plus(bytes, guest), of.plus(bytes, guest)
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.all = u.all.plus(-bytes, guest)
		if u.of[organization] = u.of[organization].plus(-bytes, guest); u.of[organization] == (unread{}) {
			delete(u.of, organization)
		}
	}, true
}
