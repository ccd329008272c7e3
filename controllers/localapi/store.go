package localapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// store has the objects, and changes them like an API server.
type store struct {
	kinds []*kind
	state State

	mutex    sync.Mutex
	objects  map[key]*unstructured.Unstructured // objects are replaced, never changed
	version  int64                              // resourceVersion of the newest change
	watchers map[*watcher]bool
	changed  chan struct{} // closed and replaced at each change
}

// key identifies an object.
type key struct {
	kind            *kind
	namespace, name string
}

func (k key) String() string { return fmt.Sprintf("%s/%s/%s", k.kind.resource, k.namespace, k.name) }

func keyOf(k *kind, obj *unstructured.Unstructured) key {
	return key{k, obj.GetNamespace(), obj.GetName()}
}

// newStore returns a store with the objects of the argument state.
func newStore(ctx context.Context, state State) (*store, error) {
	kinds, err := loadKinds()
	if err != nil {
		return nil, err
	}
	s := &store{
		kinds: kinds, state: state, objects: map[key]*unstructured.Unstructured{}, watchers: map[*watcher]bool{}, changed: make(chan struct{}),
	}
	kept, err := state.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the resources of the last run: %w", err)
	}
	for _, text := range kept {
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(text); err != nil {
			return nil, fmt.Errorf("reading the resources of the last run: %w", err)
		}
		k := s.kindOf(obj)
		if k == nil {
			continue // an unknown kind, stored by a later version of Cauri
		}
		k.setDefaults(obj)
		s.version++
		obj.SetResourceVersion(s.versionText())
		s.objects[keyOf(k, obj)] = obj
	}
	return s, nil
}

func (s *store) kindOf(obj *unstructured.Unstructured) *kind {
	for _, k := range s.kinds {
		if k.GroupVersionKind == obj.GroupVersionKind() {
			return k
		}
	}
	return nil
}

func (s *store) versionText() string { return strconv.FormatInt(s.version, 10) }

// get returns an object. The caller must not change it.
func (s *store) get(at key) (*unstructured.Unstructured, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.find(at)
}

func (s *store) find(at key) (*unstructured.Unstructured, error) {
	obj, ok := s.objects[at]
	if !ok {
		return nil, apierrors.NewNotFound(at.kind.groupResource(), at.name)
	}
	return obj, nil
}

// create stores a new object. It sets a new UID if the object has none.
func (s *store) create(ctx context.Context, k *kind, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	at := keyOf(k, obj)
	if _, err := s.find(at); err == nil {
		return nil, apierrors.NewAlreadyExists(k.groupResource(), at.name)
	}
	obj = obj.DeepCopy()
	prepareForCreate(k, obj)
	if err := k.validate(obj, nil); err != nil {
		return nil, err
	}
	return obj, s.commit(ctx, at, nil, obj)
}

// prepareForCreate sets the metadata and defaults that the API server sets for a new object.
func prepareForCreate(k *kind, obj *unstructured.Unstructured) {
	if obj.GetUID() == "" {
		obj.SetUID(types.UID(uuid.NewString()))
	}
	obj.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
	obj.SetDeletionTimestamp(nil)
	obj.SetManagedFields(nil)
	obj.SetResourceVersion("")
	if k.hasStatus() {
		obj.SetGeneration(1)
		delete(obj.Object, "status")
	}
	k.setDefaults(obj)
}

// update replaces an object by the result of the function change. If status is true, it replaces only the status. It
// returns a conflict if the result has another UID or resourceVersion than the stored object.
func (s *store) update(
	ctx context.Context, at key, status bool, change func(*unstructured.Unstructured) (*unstructured.Unstructured, error),
) (*unstructured.Unstructured, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	old, err := s.find(at)
	if err != nil {
		return nil, err
	}
	obj, err := change(old.DeepCopy())
	if err != nil {
		return nil, err
	}
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	if err := checkPreconditions(at, old, &metav1.Preconditions{UID: &uid, ResourceVersion: &version}); err != nil {
		return nil, err
	}
	prepareForUpdate(at.kind, obj, old, status)
	if equality.Semantic.DeepEqual(obj.Object, old.Object) {
		return old, nil
	}
	if err := at.kind.validate(obj, old); err != nil {
		return nil, err
	}
	if obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 {
		return obj, s.commit(ctx, at, old, nil)
	}
	return obj, s.commit(ctx, at, old, obj)
}

// prepareForUpdate restores the fields that an update must not change, and increments the generation if the spec
// changed.
func prepareForUpdate(k *kind, obj, old *unstructured.Unstructured, status bool) {
	if status {
		changed := obj.Object["status"]
		obj.Object = old.DeepCopy().Object
		obj.Object["status"] = changed
	} else if k.hasStatus() {
		delete(obj.Object, "status")
		if kept, ok := old.Object["status"]; ok {
			obj.Object["status"] = runtime.DeepCopyJSONValue(kept)
		}
	}
	obj.SetUID(old.GetUID())
	obj.SetResourceVersion(old.GetResourceVersion())
	obj.SetCreationTimestamp(old.GetCreationTimestamp())
	obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	obj.SetGeneration(old.GetGeneration())
	obj.SetManagedFields(nil)
	k.setDefaults(obj)
	if k.hasStatus() && !equality.Semantic.DeepEqual(obj.Object["spec"], old.Object["spec"]) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

// remove deletes an object. If the object has finalizers, remove sets the deletion timestamp and returns the object.
func (s *store) remove(ctx context.Context, at key, preconditions *metav1.Preconditions) (*unstructured.Unstructured, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	old, err := s.find(at)
	if err != nil {
		return nil, err
	}
	if err := checkPreconditions(at, old, preconditions); err != nil {
		return nil, err
	}
	if len(old.GetFinalizers()) == 0 {
		return nil, s.commit(ctx, at, old, nil)
	}
	if old.GetDeletionTimestamp() != nil {
		return old, nil
	}
	obj := old.DeepCopy()
	obj.SetDeletionTimestamp(&metav1.Time{Time: time.Now().Truncate(time.Second)})
	obj.SetGeneration(old.GetGeneration() + 1)
	return obj, s.commit(ctx, at, old, obj)
}

// checkPreconditions returns a conflict if the object does not have the wanted UID and resourceVersion. Empty values
// are not compared.
func checkPreconditions(at key, old *unstructured.Unstructured, wanted *metav1.Preconditions) error {
	if wanted == nil {
		return nil
	}
	differs := func(what, wanted, is string) error {
		return apierrors.NewConflict(at.kind.groupResource(), at.name, fmt.Errorf("its %s is %s, not %s", what, is, wanted))
	}
	if uid := wanted.UID; uid != nil && *uid != "" && *uid != old.GetUID() {
		return differs("UID", string(*uid), string(old.GetUID()))
	}
	if version := wanted.ResourceVersion; version != nil && *version != "" && *version != old.GetResourceVersion() {
		return differs("resourceVersion", *version, old.GetResourceVersion())
	}
	return nil
}

// commit stores a change and sends it to the watchers. old is nil for a new object, and obj is nil for a deleted one.
// commit writes the change to the state first, so that no controller acts on a change that a crash would undo.
func (s *store) commit(ctx context.Context, at key, old, obj *unstructured.Unstructured) error {
	s.version++
	if obj != nil {
		obj.SetResourceVersion(s.versionText())
	}
	if err := s.persist(ctx, at, old, obj); err != nil {
		return apierrors.NewInternalError(fmt.Errorf("keeping %s for the next run: %w", at, err))
	}
	if obj == nil {
		delete(s.objects, at)
		old = old.DeepCopy()
		old.SetResourceVersion(s.versionText())
	} else {
		s.objects[at] = obj
	}
	for w := range s.watchers {
		s.send(w, at, old, obj)
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// persist writes a change to the state, without the status, which the controllers write again.
func (s *store) persist(ctx context.Context, at key, old, obj *unstructured.Unstructured) error {
	if obj == nil {
		return s.state.Delete(ctx, at.String())
	}
	kept := lasting(obj)
	if old != nil && equality.Semantic.DeepEqual(lasting(old), kept) {
		return nil
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return s.state.Save(ctx, at.String(), text)
}

// lasting returns the part of an object that the state keeps.
func lasting(obj *unstructured.Unstructured) map[string]any {
	kept := obj.DeepCopy()
	delete(kept.Object, "status")
	kept.SetResourceVersion("")
	return kept.Object
}

// watcher is a watch of a client.
type watcher struct {
	kind      *kind
	namespace string // empty: all namespaces
	selector  labels.Selector
	events    chan watch.Event // closed if the client is too slow; then the client lists again
}

// maxBehind is the buffer size of a watcher's events. A watcher with more unread events is closed.
const maxBehind = 4096

func (w *watcher) sees(at key, obj *unstructured.Unstructured) bool {
	return obj != nil && at.kind == w.kind && (w.namespace == "" || w.namespace == at.namespace) &&
		w.selector.Matches(labels.Set(obj.GetLabels()))
}

// list returns the objects that match a watcher, and the current resourceVersion. If follow is set, later changes are
// sent to w.events.
func (s *store) list(w *watcher, follow bool) ([]*unstructured.Unstructured, string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var found []*unstructured.Unstructured
	for at, obj := range s.objects {
		if w.sees(at, obj) {
			found = append(found, obj)
		}
	}
	if follow {
		w.events = make(chan watch.Event, maxBehind)
		s.watchers[w] = true
	}
	return found, s.versionText()
}

// unfollow ends a watch that [store.list] started.
func (s *store) unfollow(w *watcher) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.drop(w)
}

func (s *store) drop(w *watcher) {
	if s.watchers[w] {
		delete(s.watchers, w)
		close(w.events)
	}
}

func (s *store) send(w *watcher, at key, old, obj *unstructured.Unstructured) {
	saw, sees := w.sees(at, old), w.sees(at, obj)
	event := watch.Event{Type: watch.Modified, Object: obj}
	switch {
	case !saw && !sees:
		return
	case !saw:
		event.Type = watch.Added
	case !sees && obj == nil:
		event.Type, event.Object = watch.Deleted, old
	case !sees:
		event.Type = watch.Deleted
	}
	select {
	case w.events <- event:
	default:
		s.drop(w)
	}
}

// wait calls the function done now and after each change, until it returns true. If ctx ends, wait returns its error.
func (s *store) wait(ctx context.Context, done func() bool) error {
	for {
		s.mutex.Lock()
		changed := s.changed
		s.mutex.Unlock()
		if done() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// wantedObject is an object from a manifest, with its defaults.
type wantedObject struct {
	at     key
	object *unstructured.Unstructured
}
