package console

import (
	"net/http"
	"slices"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// route is an address of the console. Exactly one of the fields show and do is set.
type route struct {
	method, path string                  // below {uri}/console
	roles        []sandboxes.ConsoleRole // roles that may call it; nil: everybody, without a session
	does         english.Text            // what it changes; empty for nothing
	show         func(*Console, *visit) (page, error)
	do           func(*Console, *visit) (httpfront.Answer, error)
}

// The roles that may call a route: all roles, those that read the whole sandbox, those that change it, and those that
// answer a phone. The handset role may call a route with a number only for its own number.
var (
	anyone  = []sandboxes.ConsoleRole{sandboxes.ConsoleFull, sandboxes.ConsoleViewer, sandboxes.ConsoleHandset}
	viewers = []sandboxes.ConsoleRole{sandboxes.ConsoleFull, sandboxes.ConsoleViewer}
	full    = []sandboxes.ConsoleRole{sandboxes.ConsoleFull}
	holders = []sandboxes.ConsoleRole{sandboxes.ConsoleFull, sandboxes.ConsoleHandset} // who answers a phone
)

// routes has all routes of the console.
var routes = []route{
	{method: http.MethodGet, path: "", do: (*Console).home},
	{method: http.MethodGet, path: "/", do: (*Console).home},
	{method: http.MethodGet, path: "/sign-in", do: (*Console).signIn},
	{method: http.MethodPost, path: "/sign-in", does: "sign in with the key", do: (*Console).signInWithKey},
	{method: http.MethodGet, path: "/link", do: (*Console).link},
	{method: http.MethodPost, path: "/link", does: "sign in by a link", do: (*Console).useLink},
	{method: http.MethodPost, path: "/sign-out", roles: anyone, does: "sign out", do: (*Console).signOut},
	{method: http.MethodPost, path: "/appearance", roles: anyone, does: "change the appearance", do: (*Console).appearance},
	{method: http.MethodPost, path: "/language", does: "change the language", do: (*Console).language},
	{method: http.MethodPost, path: "/keys", roles: viewers, does: "switch single keys", do: (*Console).switchKeys},
	{method: http.MethodGet, path: "/stream", roles: anyone, do: (*Console).stream},
	{method: http.MethodGet, path: "/overview", roles: viewers, show: (*Console).overview},
	{method: http.MethodGet, path: "/handsets", roles: viewers, show: (*Console).handsets},
	{method: http.MethodPost, path: "/handsets", roles: full, does: "choose what happens to a phone's next payment", do: (*Console).changeNextPayment},
	{method: http.MethodGet, path: "/handsets/{msisdn}", roles: anyone, show: (*Console).handset},
	{method: http.MethodGet, path: "/handsets/new", roles: full, show: (*Console).newClient},
	{method: http.MethodPost, path: "/handsets/new", roles: full, does: "add a test client", do: (*Console).addClient},
	{method: http.MethodGet, path: "/handsets/{msisdn}/change", roles: full, show: (*Console).client},
	{method: http.MethodPost, path: "/handsets/{msisdn}/change", roles: full, does: "change a test client", do: (*Console).changeClient},
	{method: http.MethodPost, path: "/handsets/{msisdn}/delete", roles: full, does: "delete a test client", do: (*Console).deleteClient},
	{method: http.MethodPost, path: "/handsets/{msisdn}/link", roles: full, does: "make a link to a phone", show: (*Console).linkToHandset},
	{method: http.MethodPost, path: "/handsets/{msisdn}/prompts/{tx}", roles: holders, does: "answer a phone", do: (*Console).answerPrompt},
	{method: http.MethodGet, path: "/handsets/{msisdn}/scan", roles: holders, show: (*Console).scanCode},
	{method: http.MethodPost, path: "/handsets/{msisdn}/scan", roles: holders, does: "scan a QR code", show: (*Console).scanCode},
	{method: http.MethodPost, path: "/handsets/{msisdn}/scan/pay", roles: holders, does: "pay a QR code", do: (*Console).payScanned},
	{method: http.MethodPost, path: "/handsets/{msisdn}/manual", roles: full, does: "change who answers a phone", do: (*Console).setManual},
	{method: http.MethodGet, path: "/payments", roles: viewers, show: (*Console).payments},
	{method: http.MethodGet, path: "/payments/{id}", roles: viewers, show: (*Console).payment},
	{method: http.MethodGet, path: "/payments/{id}/refund", roles: full, show: (*Console).refund},
	{method: http.MethodPost, path: "/payments/{id}/refund", roles: full, does: "refund a payment", do: (*Console).refundNow},
	{method: http.MethodGet, path: "/webhooks", roles: viewers, show: (*Console).webhooks},
	{method: http.MethodGet, path: "/webhooks/grade", roles: viewers, show: (*Console).grade},
	{method: http.MethodPost, path: "/webhooks/grade", roles: full, does: "check the receiver", do: (*Console).checkReceiver},
	{method: http.MethodGet, path: "/webhooks/grade/report.xml", roles: viewers, do: (*Console).gradeReport},
	{method: http.MethodGet, path: "/webhooks/{id}", roles: viewers, show: (*Console).event},
	{method: http.MethodPost, path: "/webhooks/{id}", roles: viewers, does: "compare bytes with an event", show: (*Console).compareBytes},
	{method: http.MethodPost, path: "/webhooks/{id}/resend", roles: full, does: "send an event again", do: (*Console).resend},
	{method: http.MethodGet, path: "/expectations", roles: viewers, show: (*Console).expectations},
	{method: http.MethodPost, path: "/expectations", roles: viewers, does: "evaluate expectations", show: (*Console).evaluate},
	{method: http.MethodGet, path: "/ledger", roles: viewers, show: (*Console).ledger},
	{method: http.MethodGet, path: "/ledger/{account}", roles: viewers, show: (*Console).account},
	{method: http.MethodGet, path: "/ledger/{account}/entries.csv", roles: viewers, do: (*Console).exportEntries},
	{method: http.MethodPost, path: "/ledger/verify", roles: full, does: "verify the ledger", do: (*Console).verifyLedger},
	{method: http.MethodGet, path: "/requests", roles: viewers, show: (*Console).requests},
	{method: http.MethodGet, path: "/requests/{id}", roles: viewers, show: (*Console).requests},
	{method: http.MethodGet, path: "/faults", roles: viewers, show: (*Console).faults},
	{method: http.MethodPost, path: "/faults", roles: full, does: "switch faults on or off", do: (*Console).changeFaults},
	{method: http.MethodGet, path: "/stories", roles: full, show: (*Console).stories},
	{method: http.MethodPost, path: "/stories", roles: full, does: "begin or end a story", do: (*Console).changeStory},
	{method: http.MethodGet, path: "/try", roles: full, show: (*Console).tryIt},
	{method: http.MethodPost, path: "/try", roles: full, does: "send a request by hand", do: (*Console).tryNow},
	{method: http.MethodGet, path: "/setup", roles: viewers, show: (*Console).setup},
	{method: http.MethodPost, path: "/setup/sessions", roles: full, does: "end a session", do: (*Console).endSession},
	{method: http.MethodGet, path: "/reset", roles: full, show: (*Console).reset},
	{method: http.MethodPost, path: "/reset", roles: full, does: "reset the sandbox", do: (*Console).resetNow},
	{method: http.MethodGet, path: "/find", roles: viewers, do: (*Console).find},
	{method: http.MethodPost, path: "/clock", roles: full, does: "advance the clock", do: (*Console).advanceClock},
}

// nav has the pages of the sidebar, in its order. Pages that the session may not open are left out.
var nav = []struct {
	path   string
	label  english.Text
	short  english.Text // in the tab bar; empty: the label
	icon   string
	second bool // in the second group
}{
	{path: "/overview", label: "Overview", short: "Overview, in a word", icon: "overview"},
	{path: "/handsets", label: "Handsets", icon: "phone"},
	{path: "/payments", label: "Payments", icon: "payments"},
	{path: "/webhooks", label: "Webhooks", icon: "webhooks"},
	{path: "/requests", label: "Requests", icon: "requests"},
	{path: "/ledger", label: "Ledger", icon: "ledger"},
	{path: "/expectations", label: "Expectations", icon: "check"},
	{path: "/try", label: "Try it", icon: "try", second: true},
	{path: "/faults", label: "Faults", icon: "bolt", second: true},
	{path: "/stories", label: "Stories", icon: "story", second: true},
	{path: "/setup", label: "Setup", icon: "setup", second: true},
}

var (
	// pages has the paths of all pages, with the roles that may open them.
	pages = map[string][]sandboxes.ConsoleRole{}
	// changes are the routes that change something.
	changes []route
	// firstPages has the path of the first page for each role.
	firstPages = map[sandboxes.ConsoleRole]string{}
)

func init() { // avoids a cycle: templates use pages, and routes refers to functions that render templates
	for _, r := range slices.Backward(routes) {
		if r.does != "" {
			changes = append(changes, r)
		}
		if r.show == nil {
			continue
		}
		pages[r.path] = r.roles
		for _, role := range r.roles {
			firstPages[role] = r.path
		}
	}
}
