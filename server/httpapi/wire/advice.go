package wire

// Advice says why something does not work, and what to do.
type Advice struct {
	Cause   string       `json:"cause" doc:"Code of the cause. It stays as it is, so that programs can compare it." example:"receiver.slow"`
	Message string       `json:"message" doc:"The cause in a sentence."`
	Action  string       `json:"action" doc:"What to do."`
	Next    []AdviceStep `json:"next" doc:"Commands that help, the first one first."`
	Page    string       `json:"page,omitempty" doc:"Address of the event's page in the console. Absent if the installation has no console."`
}

// AdviceStep is a command that helps.
type AdviceStep struct {
	Command string `json:"command" doc:"To be typed where the sandbox is known, as in the folder of its .env.cauri."`
	Because string `json:"because" doc:"What the command is for."`

	Tool      string         `json:"tool,omitempty" doc:"The tool of cauri mcp that does the same. Absent if none does."`
	Arguments map[string]any `json:"arguments,omitempty" doc:"Of the tool."`
}
