package sandboxenvironment

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// secretVersions remembers the resourceVersion at which a credentials Secret was correct. The watch reports the
// controller's own create, which needs no reconciliation. After an apply, the next reconciliation remembers the
// resourceVersion.
type secretVersions struct {
	mutex    sync.Mutex
	versions map[types.NamespacedName]string
	creating map[types.NamespacedName]chan struct{} // closed when the API server has answered
}

// longestCreation is how long an event about a Secret waits for the answer to the request that creates the Secret.
const longestCreation = time.Second

// create creates a Secret and remembers its resourceVersion. The watch often reports the Secret before the API server has
// answered. Its event waits for the answer.
func (s *secretVersions) create(secret client.Object, create func() error) error {
	key, answered := client.ObjectKeyFromObject(secret), make(chan struct{})
	s.mutex.Lock()
	if s.creating == nil {
		s.creating = map[types.NamespacedName]chan struct{}{}
	}
	s.creating[key] = answered
	s.mutex.Unlock()
	err := create()
	if err == nil {
		s.remember(secret)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.creating, key)
	close(answered)
	return err
}

func (s *secretVersions) remember(secret client.Object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.versions == nil {
		s.versions = map[types.NamespacedName]string{}
	}
	s.versions[client.ObjectKeyFromObject(secret)] = secret.GetResourceVersion()
}

// isRemembered reports whether a Secret has the remembered resourceVersion.
func (s *secretVersions) isRemembered(secret client.Object) bool {
	key := client.ObjectKeyFromObject(secret)
	s.mutex.Lock()
	answered := s.creating[key]
	s.mutex.Unlock()
	if answered != nil {
		select {
		case <-answered:
		case <-time.After(longestCreation):
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	version, known := s.versions[key]
	return known && version == secret.GetResourceVersion()
}

func (s *secretVersions) forget(secret client.Object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.versions, client.ObjectKeyFromObject(secret))
}

// changedElsewhere returns a predicate that drops the events of remembered resourceVersions.
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
