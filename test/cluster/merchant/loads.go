package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// loads are the loads that were begun, by their names.
type loads struct {
	bindings map[string]binding
	mu       sync.Mutex
	byName   map[string]*load
}

func newLoads(bindings map[string]binding) *loads {
	return &loads{bindings: bindings, byName: map[string]*load{}}
}

func (l *loads) begin(w http.ResponseWriter, r *http.Request) {
	var plan merchantapi.Plan
	if !read(w, r, &plan) {
		return
	}
	name := r.PathValue("name")
	if err := l.check(plan); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byName[name] != nil {
		http.Error(w, fmt.Sprintf("the load %q has begun already", name), http.StatusConflict)
		return
	}
	l.byName[name] = newLoad(name, plan, l.bindings)
	go l.byName[name].run(context.WithoutCancel(r.Context()))
	w.WriteHeader(http.StatusAccepted)
}

func (l *loads) check(plan merchantapi.Plan) error {
	if plan.Rate < 1 || len(plan.Steps) == 0 {
		return fmt.Errorf("a load has a rate and steps")
	}
	for _, step := range plan.Steps {
		if _, known := l.bindings[step.Binding]; !known {
			return fmt.Errorf("there is no binding %q", step.Binding)
		}
		if expected[step.Action] == 0 {
			return fmt.Errorf("there is no action %q", step.Action)
		}
	}
	return nil
}

func (l *loads) named(w http.ResponseWriter, r *http.Request) *load {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.byName[r.PathValue("name")]
	if found == nil {
		http.NotFound(w, r)
	}
	return found
}

func (l *loads) tell(w http.ResponseWriter, r *http.Request) {
	if found := l.named(w, r); found != nil {
		write(w, found.tell())
	}
}

// end lets no more requests begin; those that have are answered still.
func (l *loads) end(w http.ResponseWriter, r *http.Request) {
	if found := l.named(w, r); found != nil {
		found.stop()
		w.WriteHeader(http.StatusAccepted)
	}
}
