package suite

import (
	"fmt"
	"sync"
)

// keptProblems is the number of answers that a rule about all answers reports individually.
const keptProblems = 5

// watch passes every answer of a run to the rules about all answers.
type watch struct {
	mu    sync.Mutex
	rules []Rule
	seen  map[string]*sightings // by rule
}

// sightings are the findings of a rule so far.
type sightings struct {
	answers  int // answers that the rule applies to
	broken   int // answers that break it
	problems []string
}

func newWatch() *watch { return &watch{seen: map[string]*sightings{}} }

func (w *watch) add(r Rule) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = append(w.rules, r)
	w.seen[r.ID] = &sightings{}
}

// see passes an answer to the rules.
func (w *watch) see(a Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.rules {
		v := r.Look(a)
		if !v.Applies {
			continue
		}
		s := w.seen[r.ID]
		s.answers++
		if v.Problem == "" {
			continue
		}
		s.broken++
		if len(s.problems) < keptProblems {
			s.problems = append(s.problems, fmt.Sprintf("%s: %s", a, v.Problem))
		}
	}
}

func (w *watch) result(r Rule) result {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seen[r.ID]
	done := result{rule: r, problems: s.problems}
	if s.answers == 0 {
		done.notChecked = "no answer of this kind came"
	}
	if more := s.broken - len(s.problems); more > 0 {
		done.problems = append(done.problems, fmt.Sprintf("and %d more answers", more))
	}
	return done
}
