package wire

// The version of the API, and the names of its capabilities.
const (
	APIVersion    = "2026-05-31"
	MinSDKVersion = "0.2.0"
	ChangelogURL  = "https://github.com/cauri-dev/cauri/blob/main/docs/changelog.md"
)

// Capabilities are the names in GET /v1/meta by which clients detect features.
var Capabilities = []string{
	"payments", "refunds", "disbursements", "webhooks", "test_clients", "multi_environment", "commission_split",
	"order_linkage", "reference_format", "events", "test_client_prompts", "test_numbers", "test_client_changes", "reset",
	"clock", "faults", "requests", "native_apis", "ledger", "stream", "console", "expectations", "webhook_health",
	"receiver_checks", "fault_changes",
}
