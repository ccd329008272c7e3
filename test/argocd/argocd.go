// Package argocd runs the Lua of config/gitops/argocd as Argo CD does, for tests.
package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Customizations are the keys of the ConfigMap argocd-cm.
type Customizations map[string]string

// Read reads config/gitops/argocd/argocd-cm.yaml below the root of the repository.
func Read(root string) (Customizations, error) {
	text, err := os.ReadFile(filepath.Join(root, "config", "gitops", "argocd", "argocd-cm.yaml"))
	if err != nil {
		return nil, err
	}
	var configMap struct{ Data Customizations }
	return configMap.Data, yaml.Unmarshal(text, &configMap)
}

// Health is what Argo CD shows of a resource.
type Health struct{ Status, Message string }

// Health runs the health check of the object's kind.
func (c Customizations) Health(obj *unstructured.Unstructured) (Health, error) {
	var health Health
	err := run(c["resource.customizations.health."+key(obj)], obj, &health)
	known := []string{"Healthy", "Suspended", "Progressing", "Degraded", "Missing", "Unknown"}
	if err == nil && !slices.Contains(known, health.Status) {
		err = fmt.Errorf("the health %q does not exist", health.Status)
	}
	return health, err
}

// actions is the value of a key for actions.
type actions struct {
	MergeBuiltinActions bool   `json:"mergeBuiltinActions"`
	Discovery           string `json:"discovery.lua"`
	Definitions         []struct {
		Name   string `json:"name"`
		Action string `json:"action.lua"`
	} `json:"definitions"`
}

func (c Customizations) actions(obj *unstructured.Unstructured) (found actions, err error) {
	return found, yaml.UnmarshalStrict([]byte(c["resource.customizations.actions."+key(obj)]), &found)
}

// Enabled are the names of the actions that an object offers, sorted. Each has a definition.
func (c Customizations) Enabled(obj *unstructured.Unstructured) ([]string, error) {
	known, err := c.actions(obj)
	if err != nil {
		return nil, err
	}
	var discovered map[string]struct{ Disabled bool }
	if err := run(known.Discovery, obj, &discovered); err != nil {
		return nil, err
	}
	if len(discovered) != len(known.Definitions) {
		return nil, fmt.Errorf("%d actions are discovered and %d are defined", len(discovered), len(known.Definitions))
	}
	var enabled []string
	for _, definition := range known.Definitions {
		action, found := discovered[definition.Name]
		if !found {
			return nil, fmt.Errorf("the action %s is not discovered", definition.Name)
		}
		if !action.Disabled {
			enabled = append(enabled, definition.Name)
		}
	}
	slices.Sort(enabled)
	return enabled, nil
}

// Act is the object as an action leaves it.
func (c Customizations) Act(obj *unstructured.Unstructured, name string) (*unstructured.Unstructured, error) {
	known, err := c.actions(obj)
	if err != nil {
		return nil, err
	}
	for _, definition := range known.Definitions {
		if definition.Name == name {
			changed := &unstructured.Unstructured{}
			return changed, run(definition.Action, obj, &changed.Object)
		}
	}
	return nil, fmt.Errorf("there is no action %q", name)
}

func key(obj *unstructured.Unstructured) string {
	gvk := obj.GroupVersionKind()
	return gvk.Group + "_" + gvk.Kind
}

// run runs a script on an object with what Argo CD opens to scripts of argocd-cm: the base, package and table libraries, and of os the
// functions date and time. It decodes the table that the script returns.
func run(script string, obj *unstructured.Unstructured, into any) error {
	if script == "" {
		return errors.New("there is no script for " + key(obj))
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return err
		}
	}
	state.PreloadModule(lua.OsLibName, safeOS)
	state.SetGlobal("obj", toLua(state, obj.Object))
	if err := state.DoString(script); err != nil {
		return err
	}
	text, err := json.Marshal(fromLua(state.Get(-1)))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// safeOS is Lua's os without what reaches outside of the script.
func safeOS(state *lua.LState) int {
	lua.OpenOs(state)
	whole, safe := state.Get(-1).(*lua.LTable), state.NewTable()
	for _, name := range []string{"date", "time"} {
		safe.RawSetString(name, whole.RawGetString(name))
	}
	state.Push(safe)
	return 1
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for name, field := range v {
			table.RawSetString(name, toLua(state, field))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range v {
			table.Append(toLua(state, item))
		}
		return table
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	default:
		return lua.LNil
	}
}

// fromLua makes an empty table an object, as Argo CD does where the object had one.
func fromLua(value lua.LValue) any {
	switch v := value.(type) {
	case *lua.LTable:
		if v.Len() > 0 {
			list := make([]any, 0, v.Len())
			v.ForEach(func(_, item lua.LValue) { list = append(list, fromLua(item)) })
			return list
		}
		object := map[string]any{}
		v.ForEach(func(name, field lua.LValue) { object[name.String()] = fromLua(field) })
		return object
	case lua.LString:
		return string(v)
	case lua.LBool:
		return bool(v)
	case lua.LNumber:
		return float64(v)
	default:
		return nil
	}
}
