package streams

import "sync"

// Level is how far the holder of a stream is trusted. Those who are trusted more keep streams for themselves.
type Level int

// The levels, from the one that is trusted most.
const (
	Key     Level = iota // the API key
	Full                 // a session of the console that may do all
	Viewer               // a session that may look at everything
	Handset              // a session of one phone
	levels
)

// shares are the percentages of a limit that the holders of a level may take, together with those who are trusted less.
var shares = [levels]int{Key: 100, Full: 85, Viewer: 70, Handset: 50}

// Session is the session of the console for which a stream is opened. The zero value is the API key.
type Session struct {
	ID    string
	Level Level
	Most  int // streams that it may have open
}

// Limit is the limit that refuses a new stream.
type Limit struct {
	Process bool // whether it is the limit of the process
	Session bool // whether it is the limit of the session; if neither, it is the limit of the sandbox
	Streams int  // the number of streams that may be open
}

// holders counts the open streams of a process. It is safe for concurrent use.
type holders struct {
	mu       sync.Mutex
	open     [levels]int
	of       map[string][levels]int // by organization
	sessions map[string]int
}

func newHolders() *holders { return &holders{of: map[string][levels]int{}, sessions: map[string]int{}} }

// reached reports whether no further stream of a level may be opened, where most may be open, and returns the share that is
// used up: its own, or one of those who are trusted more, in which its streams count too.
func reached(open [levels]int, most int, level Level) (share int, refused bool) {
	taken := 0
	for l := levels - 1; l >= Key; l-- {
		taken += open[l]
		if share = most * shares[l] / 100; l <= level && taken >= share {
			return share, true
		}
	}
	return 0, false
}

// Acquire counts a stream of an organization as open until the caller calls release. If a limit is reached, Acquire counts
// nothing, and returns the limit and no release.
func (s *Streams) Acquire(organization string, by Session) (release func(), refused *Limit) {
	h := s.holders
	h.mu.Lock()
	defer h.mu.Unlock()
	if by.ID != "" && h.sessions[by.ID] >= by.Most {
		return nil, &Limit{Session: true, Streams: by.Most}
	}
	if most, refused := reached(h.of[organization], s.Sandbox, by.Level); refused {
		return nil, &Limit{Streams: most}
	}
	if most, refused := reached(h.open, s.Process, by.Level); refused {
		return nil, &Limit{Process: true, Streams: most}
	}
	h.add(organization, by, 1)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.add(organization, by, -1)
	}, nil
}

func (h *holders) add(organization string, by Session, n int) {
	of := h.of[organization]
	of[by.Level] += n
	h.open[by.Level] += n
	if h.of[organization] = of; of == ([levels]int{}) {
		delete(h.of, organization)
	}
	if by.ID == "" {
		return
	}
	if h.sessions[by.ID] += n; h.sessions[by.ID] == 0 {
		delete(h.sessions, by.ID)
	}
}
