package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBuildEnvironment(t *testing.T) {
	t.Parallel()
	got := buildEnvironment(
		[]string{"HOME=/root", "GOFLAGS=-race", "GOARCH=arm64", "KO_DOCKER_REPO=x", "KOCACHE=y", "GOPROXY=direct", "GOAMD64=v3"},
	)
	if diff := cmp.Diff([]string{"HOME=/root", "GOPROXY=direct"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestKoIsToldTheSameEverywhere(t *testing.T) {
	t.Parallel()
	k := koBuild{source: source{Version: "v1.2.3", Commit: "abc", Modified: true, Time: time.Unix(1700000000, 0)}, cache: "/cache"}
	want := []string{
		"VERSION=v1.2.3",
		"REVISION=abc-modified",
		"KO_DOCKER_REPO=cauri.local/cauri",
		"KO_DEFAULTBASEIMAGE=base",
		"KOCACHE=/cache",
		"SOURCE_DATE_EPOCH=1700000000",
		"KO_DATA_DATE_EPOCH=1700000000",
		"TZ=UTC",
		"GOFLAGS=-buildvcs=false",
	}
	if diff := cmp.Diff(want, k.environment("base")); diff != "" {
		t.Error(diff)
	}
}

func TestLayoutArgument(t *testing.T) {
	t.Parallel()
	if got, err := layoutArgument("/Home/Me/cauri", "/Home/Me/cauri/dist/layout"); err != nil || got != "dist/layout" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := layoutArgument(
		"/home/me/cauri",
		"/tmp/tmp.Xy/layout",
	); err == nil ||
		!strings.Contains(err.Error(), "without capital letters") {
		t.Errorf("%q, %v", got, err)
	}
}
