package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/textfile"
)

// expectationSpec has the fields of an Expectation's spec.
type expectationSpec struct {
	SandboxRef any             `json:"sandboxRef"` // ignored; the flags of the command select the sandbox
	Run        string          `json:"run"`
	TTL        string          `json:"ttl"`
	Within     string          `json:"within"`
	Settle     string          `json:"settle"`
	Since      string          `json:"since"`
	Expect     json.RawMessage `json:"expect"`
}

// readExpectations reads the expectations of all files.
func readExpectations(files []string, input io.Reader) (all []*expected, err error) {
	if len(files) == 0 {
		return nil, usage(errors.New("pass a file with -f, for example -f order-1042.yaml"))
	}
	for _, file := range files {
		found, err := readExpectationFile(file, input)
		if err != nil {
			if !errors.As(err, new(*fs.PathError)) { // which names the file
				err = fmt.Errorf("%s: %w", file, err)
			}
			return nil, usage(err)
		}
		all = append(all, found...)
	}
	return all, nil
}

func readExpectationFile(file string, input io.Reader) (all []*expected, err error) {
	text, err := readFileOrInput(file, input)
	if err != nil {
		return nil, err
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		e, err := readExpectation(document, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		if err != nil {
			return nil, err
		}
		if e != nil {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("has no expectation: write kind: Expectation, or only expect: with its lines")
	}
	return all, nil
}

func readFileOrInput(file string, input io.Reader) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(textfile.Reader(input))
	}
	return textfile.Read(file)
}

// readExpectation reads a document. It returns nil for a resource of another kind, and for an empty document.
func readExpectation(document []byte, name string) (*expected, error) {
	text, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, err
	}
	var resource struct {
		Kind     string                `json:"kind"`
		Metadata struct{ Name string } `json:"metadata"`
		Spec     json.RawMessage       `json:"spec"`
	}
	if err := json.Unmarshal(text, &resource); err != nil {
		return nil, errors.New("is no expectation: write kind: Expectation, or only expect: with its lines")
	}
	switch {
	case string(text) == "null", resource.Kind != "" && resource.Kind != "Expectation":
		return nil, nil
	case resource.Kind != "":
		text, name = resource.Spec, resource.Metadata.Name
	}
	var spec expectationSpec
	unknown, err := kjson.UnmarshalStrict(text, &spec)
	if err = errors.Join(append(unknown, err)...); err != nil {
		return nil, fmt.Errorf("%s: %w: write expect, within, settle or since", name, err)
	}
	e := &expected{name: name, recent: spec.Since == expectations.SinceCreation}
	lines, wrongLines := expectations.ParseWithMerchant(spec.Expect)
	within, settle, wrongTimes := expectations.ParseDurations(spec.Within, spec.Settle)
	e.lines, e.within, e.settle = lines, within, settle
	if err := errors.Join(wrongLines, wrongTimes); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if spec.Since != "" && spec.Since != expectations.SinceReset && !e.recent {
		return nil, fmt.Errorf("%s: since must be Reset or Creation", name)
	}
	return e, nil
}
