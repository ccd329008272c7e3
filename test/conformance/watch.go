package main

import (
	"fmt"
	"sync"
)

// keptProblems is how many answers a rule about all answers complains of one by one.
const keptProblems = 5

// watch shows every answer of a run to the rules that speak of all answers.
type watch struct {
	mu    sync.Mutex
	rules []rule
	seen  map[string]*sightings // by rule
}

// sightings are what a rule found in the answers so far.
type sightings struct {
	answers  int // that the rule speaks of
	broken   int // that break it
	problems []string
}

func newWatch() *watch { return &watch{seen: map[string]*sightings{}} }

func (w *watch) add(r rule) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = append(w.rules, r)
	w.seen[r.id] = &sightings{}
}

// see shows an answer to the rules.
func (w *watch) see(a answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.rules {
		v := r.look(a)
		if !v.applies {
			continue
		}
		s := w.seen[r.id]
		s.answers++
		if v.problem == "" {
			continue
		}
		s.broken++
		if len(s.problems) < keptProblems {
			s.problems = append(s.problems, fmt.Sprintf("%s: %s", a, v.problem))
		}
	}
}

func (w *watch) result(r rule) result {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seen[r.id]
	done := result{rule: r, problems: s.problems}
	if s.answers == 0 {
		done.notChecked = "no answer of this kind came"
	}
	if more := s.broken - len(s.problems); more > 0 {
		done.problems = append(done.problems, fmt.Sprintf("and %d answers more", more))
	}
	return done
}
