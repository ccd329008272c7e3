package console

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/requests"
)

// The requests that the log shows, as values of the parameter show. Without it, the log shows refused requests.
const (
	showAll     = "all"     // also requests that succeeded while the sandbox was watched
	showChanges = "changes" // what people changed in the console
)

// changesPath is the beginning of the paths of the console in the request log.
const changesPath = "/console"

// requestFilter has the filters of the request log, from its query.
type requestFilter struct {
	listing
	requests.Filter
	show string
}

// requestFields are the parameters that filter the request log, with the texts of their chips.
var requestFields = []struct {
	name string
	chip english.Text
	read func(f *requests.Filter, value string) bool
}{
	{"status", "status %s", func(f *requests.Filter, value string) (ok bool) {
		status, err := strconv.Atoi(value)
		f.Status = status
		return err == nil && status >= 100 && status <= 599
	}},
	{"error", "error %s", func(f *requests.Filter, value string) bool { return readText(&f.Error, value) }},
	{"path", "path %s", func(f *requests.Filter, value string) bool {
		return readText(&f.Path, value) && strings.HasPrefix(value, "/")
	}},
}

// readRequestFilter reads the query of the request log. An empty field filters nothing.
func readRequestFilter(query url.Values) requestFilter {
	f := requestFilter{listing: listing{"/requests", url.Values{}, map[string]bool{}}}
	if show := query.Get("show"); slices.Contains([]string{showAll, showChanges}, show) {
		f.show = show
		f.set.Set("show", show)
		f.Succeeded = true
	}
	f.OfAPIs = f.show == "" // requests that the console refused are shown with the changes
	for _, field := range requestFields {
		value := strings.TrimSpace(query.Get(field.name))
		if value == "" || field.name == "path" && f.show == showChanges {
			continue
		}
		f.set.Set(field.name, value)
		if !field.read(&f.Filter, value) {
			f.wrong[field.name] = true
		}
	}
	if f.show == showChanges {
		f.Path = changesPath
	}
	return f
}

// picks returns the chips of the filters that are set.
func (f *requestFilter) picks(v *visit) (all []pick) {
	for _, field := range requestFields {
		if f.set.Has(field.name) {
			all = append(all, pick{v.Text(field.chip, f.set.Get(field.name)), f.with(field.name, "")})
		}
	}
	return all
}

// curl returns the curl command for the same list of the API.
func (f *requestFilter) curl() string {
	all, status := "", ""
	if f.Succeeded {
		all = "true"
	}
	if f.Status != 0 {
		status = fmt.Sprint(f.Status)
	}
	return listCommand("/v1/requests", parameter{"all", all}, parameter{"status", status}, parameter{"error", f.Error},
		parameter{"path", f.Path})
}
