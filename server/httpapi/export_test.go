package httpapi

import "maps"

// LoggedFields are all fields and parameters that the request log keeps.
func LoggedFields() map[string]bool {
	all := maps.Clone(answerFields())
	for _, route := range keptFields() {
		maps.Copy(all, route.query)
		maps.Copy(all, route.body)
	}
	return all
}
