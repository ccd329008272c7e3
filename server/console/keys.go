package console

import (
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpfront"
)

// keysCookie is the cookie that says that a person has switched single keys off. It is for all sandboxes.
const keysCookie = "cauri_keys"

// keysAge is how long a browser keeps the choice.
const keysAge = 365 * 24 * time.Hour

// singleKeys are the keys of the console, with what they do. console.js has their code.
var singleKeys = []struct {
	key  string
	does english.Text
}{
	{"/", "Find"},
	{"j", "The next row of a list"},
	{"k", "The row before"},
	{"Enter", "Open the row"},
	{"?", "Show these keys"},
}

// keysOff reports whether the person has switched single keys off.
func keysOff(r *http.Request) bool {
	cookie, err := r.Cookie(keysCookie)
	return err == nil && cookie.Value == "off"
}

// switchKeys switches single keys off or on, and redirects to the former page.
func (c *Console) switchKeys(v *visit) (httpfront.Answer, error) {
	value, age := "off", keysAge
	if v.form("keys") != value {
		value, age = "", -time.Second
	}
	return v.goBack(c.cookie(keysCookie, value, age)), nil
}
