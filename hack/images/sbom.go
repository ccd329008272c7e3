package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Types of SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/), with the fields that programSBOM writes.
type (
	spdxDocument struct {
		ID            string             `json:"SPDXID"`
		Version       string             `json:"spdxVersion"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		DataLicense   string             `json:"dataLicense"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID               string         `json:"SPDXID"`
		Name             string         `json:"name"`
		Version          string         `json:"versionInfo"`
		DownloadLocation string         `json:"downloadLocation"`
		FilesAnalyzed    bool           `json:"filesAnalyzed"`
		References       []spdxRef      `json:"externalRefs"`
		Checksums        []spdxChecksum `json:"checksums,omitempty"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxRelationship struct {
		Element string `json:"spdxElementId"`
		Type    string `json:"relationshipType"`
		Related string `json:"relatedSpdxElement"`
	}
)

// programSBOM returns an SBOM of the modules in a program, from Go's build information. ko writes SBOMs only for
// images.
func programSBOM(name, version string, program []byte, at time.Time) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, fmt.Errorf("the modules of %s: %w", name, err)
	}
	const document, main = "SPDXRef-DOCUMENT", "SPDXRef-cauri"
	sum := fmt.Sprintf("%x", sha256.Sum256(program))
	doc := spdxDocument{
		ID: document, Version: "SPDX-2.3", Name: name, DataLicense: "CC0-1.0",
		Namespace:     "https://github.com/cauri-dev/cauri/sbom/" + name + "-" + sum,
		Creation:      spdxCreation{at.Format(time.RFC3339), []string{"Organization: The Cauri authors"}},
		Packages:      []spdxPackage{goPackage(main, info.Main.Path, version, sum)},
		Relationships: []spdxRelationship{{document, "DESCRIBES", main}},
	}
	add := func(id, path, version, sum string) {
		doc.Packages = append(doc.Packages, goPackage(id, path, version, sum))
		doc.Relationships = append(doc.Relationships, spdxRelationship{main, "DEPENDS_ON", id})
	}
	add("SPDXRef-go", "stdlib", strings.TrimPrefix(info.GoVersion, "go"), "")
	for i, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		// The sum in go.sum is the SHA-256 of the module's list of files.
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:"))
		if err != nil {
			return nil, fmt.Errorf("the sum of %s: %w", module.Path, err)
		}
		add(fmt.Sprintf("SPDXRef-module-%d", i+1), module.Path, module.Version, hex.EncodeToString(sum))
	}
	return json.MarshalIndent(doc, "", " ")
}

func goPackage(id, path, version, sum string) spdxPackage {
	p := spdxPackage{
		ID: id, Name: path, Version: version, DownloadLocation: "NOASSERTION",
		References: []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
	if sum != "" {
		p.Checksums = []spdxChecksum{{"SHA256", sum}}
	}
	return p
}
