package download

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/cauri-dev/cauri/server/egress"
)

// Variables of the user.
const (
	SwitchVariable = "CAURI_DOWNLOADS"
	MirrorVariable = "CAURI_DOWNLOAD_MIRROR"
	SumsVariable   = "CAURI_DOWNLOAD_SUMS" // only for tests of the download itself, with a mirror on this machine
)

// Settings are the user's settings of downloads.
type Settings struct {
	Off    bool
	mirror string // base URL of a mirror; empty: the official hosts
	sums   string // file with sums that replace the pinned ones; empty: none
}

// SettingsOf reads the variables.
func SettingsOf(get func(string) string) (Settings, error) {
	s := Settings{mirror: strings.TrimRight(get(MirrorVariable), "/"), sums: get(SumsVariable)}
	switch value := get(SwitchVariable); value {
	case "", "on":
	case "off":
		s.Off = true
	default:
		return s, fmt.Errorf("%s=%s: write on or off", SwitchVariable, value)
	}
	mirror, err := url.Parse(s.mirror)
	if s.mirror != "" && (err != nil || egress.HostOf(mirror) == "" || mirror.Scheme != "http" && mirror.Scheme != "https") {
		return s, fmt.Errorf("%s is %s, and no base URL: write for example https://mirror.example.com/files, and what is special in a password "+
			"encoded (%%40 for @)", MirrorVariable, egress.Shown(s.mirror))
	}
	if s.sums != "" && (s.mirror == "" || !net.ParseIP(mirror.Hostname()).IsLoopback()) {
		return s, fmt.Errorf("%s is for tests with a mirror on this machine: unset it, or set %s=http://127.0.0.1:PORT", SumsVariable, MirrorVariable)
	}
	return s, nil
}

// shown returns a URL of a file or of a mirror without its password.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the mirror"
	}
	return u.Redacted()
}

// address returns the URL of a file.
func (s Settings) address(file File) string {
	if s.mirror == "" {
		return "https://" + file.URL
	}
	return s.mirror + "/" + file.URL
}

// warning returns a warning if the sums are not the pinned ones; otherwise "".
func (s Settings) warning() string {
	if s.sums == "" {
		return ""
	}
	return fmt.Sprintf("WARNING: the sums of %s=%s replace the pinned ones\n", SumsVariable, s.sums)
}

// chooseSums returns the pinned sums, or those of a test.
func (s Settings) chooseSums(pinned string) (map[string]string, error) {
	if s.sums == "" {
		return parseSums(pinned)
	}
	content, err := os.ReadFile(s.sums)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", SumsVariable, err)
	}
	return parseSums(string(content))
}

// parseSums reads lines as sha256sum prints them: a sum and a URL without its scheme.
func parseSums(text string) (map[string]string, error) {
	sums := map[string]string{}
	for line := range bytes.Lines([]byte(text)) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 || newHash(fields[0]) == nil {
			return nil, fmt.Errorf("%q is no line of sums: a SHA-256 or SHA-512 in hexadecimal, and a URL without its scheme", strings.TrimSpace(string(line)))
		}
		if sums[fields[1]] != "" {
			return nil, errors.New("two sums of " + fields[1])
		}
		sums[fields[1]] = fields[0]
	}
	return sums, nil
}
