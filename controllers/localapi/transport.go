package localapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"
)

// maxBody is the maximum size of a request body, as in the API server.
const maxBody = 3 << 20

// request is a request for resources.
type request struct {
	*http.Request
	at     key // the name is empty for a request to all objects
	status bool
}

// RoundTrip implements [http.RoundTripper]. It answers a request as the API server does.
func (s *store) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.answer(r)
	if err != nil {
		status := apierrors.APIStatus(apierrors.NewInternalError(err))
		_ = errors.As(err, &status)
		failure := status.Status()
		failure.Kind, failure.APIVersion = "Status", "v1"
		return respond(r, int(failure.Code), failure)
	}
	if body, ok := answer.(io.ReadCloser); ok {
		return response(r, http.StatusOK, body), nil
	}
	return respond(r, http.StatusOK, answer)
}

func respond(r *http.Request, code int, answer any) (*http.Response, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return response(r, code, io.NopCloser(bytes.NewReader(text))), nil
}

func response(r *http.Request, code int, body io.ReadCloser) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ContentLength: -1, Request: r,
	}
}

// answer executes a request. It returns an object, or the body of a watch.
func (s *store) answer(r *http.Request) (any, error) {
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
	}
	if strings.HasPrefix(r.URL.Path, "/apis/events.k8s.io/") {
		return json.RawMessage(`{}`), nil // events are dropped; the status and the log have the same information
	}
	req, err := s.parse(r)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Method == http.MethodGet && req.at.name == "":
		return s.answerList(req)
	case r.Method == http.MethodGet:
		return s.get(req.at)
	case r.Method == http.MethodPost:
		return s.answerCreate(req)
	case r.Method == http.MethodPatch:
		return s.answerPatch(req)
	case r.Method == http.MethodDelete:
		return s.answerDelete(req)
	}
	return nil, apierrors.NewMethodNotSupported(req.at.kind.groupResource(), r.Method)
}

// parse parses a request. Its path is /api/v1 or /apis/GROUP/VERSION, optionally /namespaces/NAMESPACE, and
// /RESOURCE[/NAME[/status]].
func (s *store) parse(r *http.Request) (*request, error) {
	notFound := apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "", r.URL.Path+
		" is not served: this API has SandboxEnvironments, TestClients, Expectations and Secrets", 0, false)
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := schema.GroupVersion{}
	switch {
	case len(parts) > 2 && parts[0] == "api":
		group.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group.Group, group.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return nil, notFound
	}
	req := &request{Request: r}
	if parts[0] == "namespaces" && len(parts) > 2 {
		req.at.namespace, parts = parts[1], parts[2:]
	}
	for _, k := range s.kinds {
		if k.GroupVersion() == group && k.resource == parts[0] {
			req.at.kind = k
		}
	}
	if req.at.kind == nil || len(parts) > 3 || len(parts) == 3 && (parts[2] != "status" || !req.at.kind.hasStatus()) {
		return nil, notFound
	}
	req.status = len(parts) == 3
	if len(parts) > 1 {
		req.at.name = parts[1]
	}
	return req, nil
}

func (r *request) body() ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(r.Body, maxBody))
}

func (s *store) answerCreate(r *request) (any, error) {
	text, err := r.body()
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(text); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	obj.SetNamespace(r.at.namespace)
	return s.create(r.Context(), r.at.kind, obj)
}

// answerPatch answers a merge patch or a server-side apply. It treats a server-side apply as a merge patch. The result
// is the same if there is only one field manager, and if it never omits a field that it applied before.
func (s *store) answerPatch(r *request) (any, error) {
	patch, err := r.body()
	if err != nil {
		return nil, err
	}
	switch media := types.PatchType(r.Header.Get("Content-Type")); media {
	case types.MergePatchType:
	case types.ApplyYAMLPatchType:
		if patch, err = yaml.YAMLToJSON(patch); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	default:
		return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", r.at.kind.groupResource(), r.at.name,
			fmt.Sprintf("%s is not served, only merge patches and apply", media), 0, false)
	}
	return s.update(r.Context(), r.at, r.status, func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		text, err := obj.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if text, err = jsonpatch.MergePatch(text, patch); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		merged := &unstructured.Unstructured{}
		return merged, merged.UnmarshalJSON(text)
	})
}

func (s *store) answerDelete(r *request) (any, error) {
	text, err := r.body()
	if err != nil {
		return nil, err
	}
	var options metav1.DeleteOptions
	if len(text) > 0 {
		if err := json.Unmarshal(text, &options); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	kept, err := s.remove(r.Context(), r.at, options.Preconditions)
	if err != nil || kept != nil {
		return kept, err
	}
	return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, nil
}

func (s *store) answerList(r *request) (any, error) {
	query := r.URL.Query()
	selector, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if query.Get("fieldSelector") != "" {
		return nil, apierrors.NewBadRequest("field selectors are not served")
	}
	w := &watcher{kind: r.at.kind, namespace: r.at.namespace, selector: selector}
	follow := query.Get("watch") == "true"
	objects, version := s.list(w, follow)
	convert := r.converter()
	if follow {
		if query.Get("sendInitialEvents") != "true" && query.Get("resourceVersion") != version {
			s.unfollow(w)
			return nil, apierrors.NewResourceExpired("changes of the past are not kept: list again")
		}
		return s.stream(r, w, convert, objects, version), nil
	}
	items := make([]any, len(objects))
	for i, obj := range objects {
		items[i] = convert(obj)
	}
	list := map[string]any{"metadata": map[string]any{"resourceVersion": version}, "items": items}
	list["apiVersion"], list["kind"] = r.at.kind.GroupVersion().String(), r.at.kind.Kind+"List"
	if r.metadataOnly() {
		list["apiVersion"], list["kind"] = metav1.SchemeGroupVersion.String(), "PartialObjectMetadataList"
	}
	return list, nil
}

// metadataOnly reports whether the client requests PartialObjectMetadata.
func (r *request) metadataOnly() bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// converter returns a function that converts objects to the type that the client requests.
func (r *request) converter() func(*unstructured.Unstructured) *unstructured.Unstructured {
	if !r.metadataOnly() {
		return func(obj *unstructured.Unstructured) *unstructured.Unstructured { return obj }
	}
	return func(obj *unstructured.Unstructured) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": metav1.SchemeGroupVersion.String(), "kind": "PartialObjectMetadata", "metadata": obj.Object["metadata"],
		}}
	}
}

// stream sends the events of a watcher until the client disconnects. If the client requested initial events, stream
// sends the existing objects first, and then a bookmark that ends them.
func (s *store) stream(
	r *request, w *watcher, convert func(*unstructured.Unstructured) *unstructured.Unstructured, initial []*unstructured.Unstructured,
	version string,
) io.ReadCloser {
	body, out := io.Pipe()
	encoder := json.NewEncoder(out)
	send := func(kind watch.EventType, obj *unstructured.Unstructured) error {
		return encoder.Encode(map[string]any{"type": kind, "object": convert(obj).Object})
	}
	run := func(ctx context.Context) error {
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			for _, obj := range initial {
				if err := send(watch.Added, obj); err != nil {
					return err
				}
			}
			if err := send(watch.Bookmark, bookmark(w.kind, version)); err != nil {
				return err
			}
		}
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case event, ok := <-w.events:
				if !ok {
					return io.EOF
				}
				if err := send(event.Type, event.Object.(*unstructured.Unstructured)); err != nil {
					return err
				}
			}
		}
	}
	go func() {
		defer s.unfollow(w)
		_ = out.CloseWithError(run(r.Context()))
	}()
	return body
}

// bookmark returns the bookmark that ends the initial events.
func bookmark(k *kind, version string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(k.GroupVersionKind)
	obj.SetResourceVersion(version)
	obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return obj
}
