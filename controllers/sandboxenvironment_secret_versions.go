package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// secretVersions remembers the version in which each credentials Secret was correct. The watch reports it once more after a create;
// that event needs no reconciliation. After an apply the next reconciliation remembers the version.
type secretVersions struct {
	mutex    sync.Mutex
	versions map[types.NamespacedName]string
}

func (s *secretVersions) remember(secret client.Object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.versions == nil {
		s.versions = map[types.NamespacedName]string{}
	}
	s.versions[client.ObjectKeyFromObject(secret)] = secret.GetResourceVersion()
}

// isRemembered reports whether a Secret has the remembered version.
func (s *secretVersions) isRemembered(secret client.Object) bool {
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
		CreateFunc: func(e event.CreateEvent) bool { return !s.isRemembered(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return !s.isRemembered(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool {
			s.forget(e.Object)
			return true
		},
	}
}
