package apidoc

import "github.com/danielgtaylor/huma/v2"

// serversAt returns the servers of the document. The first is the base URL of the document's own URL. The others have
// all path prefixes of the API. Without an origin, the first one is missing and the others are relative.
func serversAt(origin, form string) []*huma.Server {
	var servers []*huma.Server
	if origin != "" {
		servers = append(servers, &huma.Server{URL: origin + form, Description: "Where you asked for this document."})
	}
	for _, s := range []huma.Server{
		{URL: "", Description: "The key determines the sandbox."},
		{URL: "/api", Description: "The same, in the form of self-hosted instances."},
		{
			URL: "/sandboxes/{namespace}/{name}", Variables: sandboxVariables,
			Description: "One sandbox: the base URL in its status and in its Secret. The key of another sandbox is refused.",
		},
		{
			URL: "/sandboxes/{namespace}/{name}/api", Variables: sandboxVariables,
			Description: "The same, as clients of self-hosted instances build it from a base URL.",
		},
	} {
		if origin == "" && s.URL == "" {
			s.URL = "/"
		}
		if s.URL = origin + s.URL; len(servers) == 0 || s.URL != servers[0].URL {
			servers = append(servers, &s)
		}
	}
	return servers
}

var sandboxVariables = map[string]*huma.ServerVariable{
	"namespace": {Default: "default", Description: "Namespace of the SandboxEnvironment."},
	"name":      {Default: "checkout", Description: "Name of the SandboxEnvironment."},
}
