package main

import (
	"slices"
	"sync"
	"time"
)

// series records successes in order.
type series struct {
	mu  sync.Mutex
	all []success
}

type success struct{ begun, at time.Time }

// note adds a success at the current time.
func (s *series) note(begun time.Time) { s.add(success{begun, time.Now()}) }

func (s *series) add(one success) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, one)
}

// since counts the successes of requests that began after a moment.
func (s *series) since(from time.Time) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		if one.begun.After(from) {
			n++
		}
	}
	return n
}

// forget removes all records.
func (s *series) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = nil
}

// outage measures how long nothing succeeded.
type outage struct {
	First   time.Duration // from the fault to the first success of a request that began after it
	Longest time.Duration // between two successes, regardless of when the requests began
}

// outage measures the time between two moments. Only the part of a gap between them counts.
func (s *series) outage(from, to time.Time) (found outage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	within := slices.DeleteFunc(slices.Clone(s.all), func(one success) bool { return !one.at.After(from) || one.at.After(to) })
	slices.SortFunc(within, func(a, b success) int { return a.at.Compare(b.at) })
	found.First = to.Sub(from)
	last := from
	for _, one := range append(within, success{to, to}) {
		found.Longest = max(found.Longest, one.at.Sub(last))
		last = one.at
		if one.begun.After(from) {
			found.First = min(found.First, one.at.Sub(from))
		}
	}
	return found
}

// worst returns the maximum of each measure.
func worst(all ...outage) (longest outage) {
	for _, o := range all {
		longest.First, longest.Longest = max(longest.First, o.First), max(longest.Longest, o.Longest)
	}
	return longest
}
