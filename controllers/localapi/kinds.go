package localapi

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/config/crd"
)

// kind is one kind of resource with its schema and validation rules.
type kind struct {
	schema.GroupVersionKind
	resource string // plural

	structural *structuralschema.Structural // nil for Secret, which has neither a schema nor a status subresource
	values     validation.SchemaValidator
	rules      *cel.Validator
}

// loadKinds reads the kinds from the embedded CustomResourceDefinitions, and adds Secret.
func loadKinds() ([]*kind, error) {
	kinds := []*kind{{GroupVersionKind: corev1.SchemeGroupVersion.WithKind(secretKind), resource: "secrets"}}
	names, err := fs.Glob(crd.Files, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := crd.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &definition); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		k, err := newKind(definition.Spec)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

func newKind(spec apiextensionsv1.CustomResourceDefinitionSpec) (*kind, error) {
	version := spec.Versions[0]
	props := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, props, nil)
	if err != nil {
		return nil, err
	}
	k := &kind{
		GroupVersionKind: schema.GroupVersionKind{Group: spec.Group, Version: version.Name, Kind: spec.Names.Kind},
		resource:         spec.Names.Plural,
	}
	if k.structural, err = structuralschema.NewStructural(props); err != nil {
		return nil, err
	}
	if k.values, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	k.rules = cel.NewValidator(k.structural, true, celconfig.PerCallLimit)
	return k, nil
}

func (k *kind) hasStatus() bool { return k.structural != nil }

func (k *kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.resource}
}

// strict returns the API server's error for unknown fields in an object from a manifest. It also sets the defaults.
func (k *kind) strict(obj *unstructured.Unstructured) error {
	unknown, err := k.unknownFields(obj)
	if err == nil && len(unknown) > 0 {
		err = runtime.NewStrictDecodingError(unknown)
	}
	if err != nil {
		return apierrors.NewBadRequest(
			fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", k.Kind, k.Version, k.Kind, err))
	}
	k.setDefaults(obj)
	return nil
}

// unknownFields removes unknown fields, and returns an error for each of them.
func (k *kind) unknownFields(obj *unstructured.Unstructured) ([]error, error) {
	if k.structural == nil {
		return normalizeSecret(obj)
	}
	metadata, found, paths, err := objectmeta.GetObjectMetaWithOptions(
		obj.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	paths = append(paths, pruning.PruneWithOptions(
		obj.Object, k.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(obj.Object, k.structural)
	if found {
		err = objectmeta.SetObjectMeta(obj.Object, metadata)
	}
	slices.Sort(paths)
	unknown := make([]error, len(paths))
	for i, path := range paths {
		unknown[i] = fmt.Errorf(`unknown field "%s"`, path)
	}
	return unknown, err
}

func (k *kind) setDefaults(obj *unstructured.Unstructured) {
	if k.structural != nil {
		defaulting.Default(obj.Object, k.structural)
	}
}

// validate returns the API server's error for an invalid object. The parameter old is nil for a new object.
func (k *kind) validate(obj, old *unstructured.Unstructured) error {
	ctx := context.Background()
	name := metavalidation.NameIsDNSSubdomain
	problems := metavalidation.ValidateObjectMetaAccessor(obj, true, name, field.NewPath("metadata"))
	if old != nil {
		problems = metavalidation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata"))
	}
	if k.structural == nil {
		problems = append(problems, validateSecret(obj)...)
	} else {
		problems = k.validateCustom(ctx, obj, old, problems)
	}
	// The namespace is checked here, because this API has no Namespace objects.
	for _, message := range utilvalidation.IsDNS1123Label(obj.GetNamespace()) {
		problems = append(problems, field.Invalid(field.NewPath("metadata", "namespace"), obj.GetNamespace(), message))
	}
	if len(problems) > 0 {
		return apierrors.NewInvalid(k.GroupKind(), obj.GetName(), problems)
	}
	return nil
}

// validateCustom validates an object by its schema and rules, and appends the errors to problems. The code repeats the
// API server's strategy for custom resources. The package of that strategy is not used, because it imports a client of
// etcd, which adds 28 MB to the program.
func (k *kind) validateCustom(
	ctx context.Context, obj, old *unstructured.Unstructured, problems field.ErrorList,
) field.ErrorList {
	var before map[string]any
	var options []cel.Option
	if old == nil {
		problems = append(problems, validation.ValidateCustomResource(nil, obj.Object, k.values)...)
	} else {
		// In an update, an invalid value that did not change does not block other changes (ratcheting).
		before = old.Object
		same := common.NewCorrelatedObject(obj.Object, before, &model.Structural{Structural: k.structural})
		problems = append(problems,
			validation.ValidateCustomResourceUpdate(nil, obj.Object, before, k.values, validation.WithRatcheting(same))...)
		options = append(options, cel.WithRatcheting(same))
	}
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, k.structural, obj.Object)...)
	if slices.ContainsFunc(problems, blocksRules) {
		return append(problems, field.Invalid(nil, nil,
			"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
	}
	broken, _ := k.rules.Validate(ctx, nil, k.structural, obj.Object, before, celconfig.RuntimeCELCostBudget, options...)
	return append(problems, broken...)
}

// blocksRules reports whether an error of the schema means that the CEL rules must not run, because they expect another
// type.
func blocksRules(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

const (
	sandboxKind     = "SandboxEnvironment"
	testClientKind  = "TestClient"
	expectationKind = "Expectation"
	secretKind      = "Secret"
)
