package wire

// Meta is the answer of GET /v1/meta.
type Meta struct {
	APIVersion    string   `json:"api_version" doc:"Date-based version of the API." example:"2026-05-31"`
	Capabilities  []string `json:"capabilities" doc:"Names to detect features by."`
	MinSDKVersion string   `json:"min_sdk_version" doc:"The oldest client library that is recommended." example:"0.2.0"`
	ChangelogURL  string   `json:"changelog_url" format:"uri" doc:"Link to the changelog."`
}

// Health is the answer of GET /v1/health.
type Health struct {
	Status  string `json:"status" enum:"ok,unavailable"`
	Version string `json:"version,omitempty" doc:"Version of the program that answers."`
}

// MetaOfThisVersion returns the answer of GET /v1/meta for this program.
func MetaOfThisVersion() Meta {
	return Meta{APIVersion: APIVersion, Capabilities: Capabilities, MinSDKVersion: MinSDKVersion, ChangelogURL: ChangelogURL}
}
