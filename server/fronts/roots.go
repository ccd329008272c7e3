package fronts

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// domainRoots are the hosts below a domain, as [httpfront.Roots].
type domainRoots struct {
	domain    *sandboxes.OperatorDomain
	directory *sandboxes.Directory
}

// RootsBelow returns the roots of the operators' own APIs below a domain. They find sandboxes in the directory only: a
// stranger's request for an unknown host sends no query.
func RootsBelow(domain *sandboxes.OperatorDomain, directory *sandboxes.Directory) httpfront.Roots {
	return domainRoots{domain, directory}
}

// Find implements [httpfront.Roots]. The path of an unknown host has its label, which no route has.
func (d domainRoots) Find(r *http.Request) *httpfront.Root {
	operator, code, is := d.domain.Read(r.Host)
	if !is {
		return nil
	}
	root := &httpfront.Root{URL: d.domain.URL(operator, code), Path: "/" + string(operator) + "-" + code}
	if sandbox, known := d.directory.ByHostCode(code); known && sandbox.Has(operator) {
		root.Path = httpfront.OperatorPath(httpfront.SandboxName{Namespace: sandbox.Namespace, Name: sandbox.Name}, operator)
	}
	return root
}

// URL implements [httpfront.Roots].
func (d domainRoots) URL(sandbox *sandboxes.Sandbox, operator payments.Operator) string {
	return d.domain.URL(operator, sandboxes.HostCode(sandbox.OrganizationID))
}

// Pattern implements [httpfront.Roots].
func (d domainRoots) Pattern(_ httpfront.SandboxName, operator payments.Operator) string {
	return d.domain.URL(operator, "{code}")
}
