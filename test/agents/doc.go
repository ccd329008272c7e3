// Package agents tests `cauri mcp` as a process, and by an agent that knows nothing but what the tools say.
package agents
