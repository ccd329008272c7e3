package controllers

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cauri-dev/cauri/server/store"
)

// TestOutage: who comes while the database is away is told so, is told again when it is over, and nobody else.
func TestOutage(t *testing.T) {
	named := func(name string) change { return change{key: client.ObjectKey{Name: name}} }
	o := newOutage()
	if err := o.holdUp(named("before")); err != nil {
		t.Errorf("held up without an outage: %v", err)
	}
	if !o.begin(store.ErrUnavailable) || o.begin(store.ErrUnavailable) {
		t.Error("an outage begins once")
	}
	for _, name := range []string{"b", "a", "b"} {
		if err := o.holdUp(named(name)); !errors.Is(err, store.ErrUnavailable) || !isWoken(err) {
			t.Errorf("%s is told %v", name, err)
		}
	}
	names := func(changes []change) (names []string) {
		for _, c := range changes {
			names = append(names, c.key.Name)
		}
		return names
	}
	if diff := cmp.Diff([]string{"b", "a"}, names(o.end())); diff != "" {
		t.Error(diff)
	}
	if err := o.holdUp(named("after")); err != nil || len(o.end()) != 0 || !o.begin(store.ErrUnavailable) {
		t.Errorf("the outage is not over: %v", err)
	}
}
