// Package mcp is a server of the Model Context Protocol, through which an agent uses a sandbox. Its tools are clients of
// the API, as the commands of package cli are.
package mcp
