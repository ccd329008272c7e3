package controllers

import (
	"fmt"
	"slices"
	"strings"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/payments"
)

// unused is a sentence about floats and operators' credentials that no environment of the spec uses, with a space before it; empty
// if there are none. They are no error: their environment may be added later.
func unused(spec v1alpha1.SandboxEnvironmentSpec) string {
	var found []string
	for i, float := range spec.OpeningFloat {
		if !slices.ContainsFunc(spec.Environments, func(e v1alpha1.Environment) bool {
			currency, _ := payments.Country(e.Country).Currency()
			return string(currency) == string(float.Currency)
		}) {
			found = append(found, fmt.Sprintf("spec.openingFloat[%d] (no environment has the currency %s)", i, float.Currency))
		}
	}
	for i, store := range spec.Stores {
		for j, c := range store.OperatorCredentials {
			if !slices.ContainsFunc(
				spec.Environments, func(e v1alpha1.Environment) bool { return e.Operator == c.Operator && e.Country == c.Country },
			) {
				found = append(
					found, fmt.Sprintf("spec.stores[%d].operatorCredentials[%d] (there is no environment %s in %s)", i, j, c.Operator, c.Country),
				)
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	return " Not used: " + strings.Join(found, ", ") + "."
}
