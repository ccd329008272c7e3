package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// secretVersions remembers the version in which each credentials Secret was correct. The watch reports this version after each write;
// it needs no reconciliation.
type secretVersions struct {
	mutex    sync.Mutex
	versions map[types.NamespacedName]string
}

func (s *secretVersions) set(secret client.Object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.versions == nil {
		s.versions = map[types.NamespacedName]string{}
	}
	s.versions[client.ObjectKeyFromObject(secret)] = secret.GetResourceVersion()
}

// is reports whether a Secret is the version that is remembered.
func (s *secretVersions) is(secret client.Object) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	version, known := s.versions[client.ObjectKeyFromObject(secret)]
	return known && version == secret.GetResourceVersion()
}

func (s *secretVersions) forget(secret client.Object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.versions, client.ObjectKeyFromObject(secret))
}

// changedElsewhere passes the events of the versions that are not remembered.
func (s *secretVersions) changedElsewhere() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !s.is(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return !s.is(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool {
			s.forget(e.Object)
			return true
		},
	}
}
