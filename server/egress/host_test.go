package egress_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
)

func TestHostOf(t *testing.T) {
	t.Parallel()
	for authority, want := range map[string]string{
		"shop.example":            "shop.example",
		"Shop.Example.:8080":      "shop.example",
		"user@my_shop-1.example":  "my_shop-1.example",
		"localhost":               "localhost",
		"xn--shp-una.example":     "xn--shp-una.example",
		"1password.example":       "1password.example",
		"10.0.0.1:80":             "10.0.0.1",
		"10.0.0.1.":               "10.0.0.1",
		"[::1]:80":                "::1",
		"[0:0:0:0:0:FFFF:0A00:1]": "::ffff:10.0.0.1",
		"":                        "",
		":80":                     "",
		"user@":                   "",
		".":                       "",
		"a..example":              "",
		".example":                "",
		"[::1%25x.shop.example]":  "",
		"[fe80::1%25eth0]:80":     "",
		"[::ffff:10.0.0.1%25x]":   "",
		"sh%C3%B6p.example":       "",
		"shöp.example":            "",
		"１２７.0.0.1":               "",
		"127。0。0。1":               "",
		"\u212A.example":          "", // the Kelvin sign, in lower case k
		"shop.example\u00ad":      "",
		"127.1":                   "",
		"0177.0.0.1":              "",
		"0x7f.0.0.1":              "",
		"2130706433":              "",
		"0X7F000001":              "",
		"shop.example.1":          "",
		"256.0.0.1":               "",
		"10.0.0.1.0x":             "",
	} {
		u, err := url.Parse("http://" + authority + "/path%20with%20more")
		if err != nil {
			t.Fatal(err)
		}
		if got := egress.HostOf(u); got != want {
			t.Errorf("%s is read as %q, want %q", authority, got, want)
		}
	}
}

// A host that is compared as one text and connected to as another is not connected to at all.
func TestClientRefusesHosts(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(server.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	client := egress.Guard{AllowLoopback: true}.Client(egress.ClientOptions{Timeout: time.Minute})
	for _, host := range []string{"[::ffff:127.0.0.1%25x.shop.example]:" + port, "１２７.0.0.1:" + port, "127.0.0.1:0", "127.0.0.1:65536"} {
		response, err := client.Post("http://"+host+"/", "text/plain", strings.NewReader("x"))
		if err == nil {
			_ = response.Body.Close()
		}
		if !errors.Is(err, egress.ErrHost) {
			t.Errorf("%s: %v, want %v", host, err, egress.ErrHost)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests came", n)
	}
}

// Names whose addresses are known need no look-up, however they are written.
func TestKnownNamesAreRefused(t *testing.T) {
	t.Parallel()
	cluster, machine := egress.Guard{}, egress.Guard{AllowLoopback: true}
	for host, onMachine := range map[string]bool{
		"localhost": true, "LOCALHOST.": true, "shop.localhost": true, "localhost.localdomain": true, "ip6-localhost": true, "ip6-loopback": true,
		"localhost6": true, "localhost4.localdomain4": true,
		"metadata.google.internal": false, "Metadata.Google.Internal.": false, "kubernetes.default.svc": false,
		"kubernetes.default.svc.cluster.local": false, "kubernetes.default": false,
	} {
		url := "https://" + host + ":8443/x"
		if err := cluster.CheckURL(url); !errors.As(err, new(egress.ErrForbidden)) {
			t.Errorf("%s in a cluster: %v", host, err)
		}
		if err := machine.CheckURL(url); (err == nil) != onMachine {
			t.Errorf("%s in cauri dev: %v", host, err)
		}
	}
	for _, host := range []string{"localhost.example", "kubernetes.default.svc.example", "shop.default.svc", "metadata.shop.example", "mylocalhost"} {
		if err := cluster.CheckURL("http://" + host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
