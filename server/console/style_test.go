package console_test

import (
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/assets"
)

// readStyle returns the style sheet without comments.
func readStyle(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../assets/console.css")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
}

// blocks match the blocks of tokens: light, dark by the system, and dark by the switch.
var blocks = regexp.MustCompile(`(?m)^ *:root(:not\(\[data-theme="light"\]\)|\[data-theme="dark"\])? \{[^}]*\}`)

// tokensOf returns the tokens of a block that are colors.
func tokensOf(block string) map[string]string {
	tokens := map[string]string{}
	for _, found := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(block, -1) {
		tokens[found[1]] = found[2]
	}
	return tokens
}

// appearances returns the tokens of the light and the dark appearance.
func appearances(t *testing.T, style string) map[string]map[string]string {
	t.Helper()
	found := blocks.FindAllString(style, -1)
	if len(found) != 3 {
		t.Fatalf("%d blocks of tokens, want 3", len(found))
	}
	light, dark, byTheSwitch := tokensOf(found[0]), tokensOf(found[1]), tokensOf(found[2])
	if diff := cmp.Diff(dark, byTheSwitch); diff != "" {
		t.Errorf("the dark tokens by the system and by the switch:\n%s", diff)
	}
	if missing := cmp.Diff(slices.Sorted(maps.Keys(light)), slices.Sorted(maps.Keys(dark))); missing != "" || len(light) < 30 {
		t.Fatalf("the light and the dark tokens:\n%s", missing)
	}
	return map[string]map[string]string{"light": light, "dark": dark}
}

func TestColorsAreTokens(t *testing.T) {
	t.Parallel()
	rules := blocks.ReplaceAllString(readStyle(t), "")
	color := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|\b(rgb|rgba|hsl|hsla|oklch|color-mix)\(|[ :](white|black|gray|grey|red|green|blue|yellow|orange)[;, )]`)
	for _, found := range color.FindAllStringIndex(rules, -1) {
		t.Errorf("a color that is no token: %s", rules[max(0, found[0]-60):found[1]])
	}
	for _, name := range regexp.MustCompile(`var\(--([a-z0-9-]+)`).FindAllStringSubmatch(rules, -1) {
		if !strings.Contains(readStyle(t), "--"+name[1]+":") {
			t.Errorf("there is no token %s", name[1])
		}
	}
}

// grounds are the tokens of backgrounds that any text may have.
var grounds = []string{"ground", "surface", "sunken", "hover"}

// inks are the tokens of texts, with their possible backgrounds. A text also has the background of its own rule.
var inks = map[string][]string{
	"text":         append([]string{"accent-soft", "wait-soft", "bad-soft"}, grounds...),
	"quiet":        grounds,
	"accent":       append([]string{"accent-soft"}, grounds...),
	"accent-press": append([]string{"accent-soft"}, grounds...),
	"wait":         append([]string{"wait-soft"}, grounds...),
	"bad":          append([]string{"bad-soft"}, grounds...),
	"on-accent":    {"accent", "accent-press"},
	"screen-text":  {"screen"},
	"screen-quiet": {"screen"},
	"off-text":     {"screen-off"},
}

const (
	textContrast   = 4.5 // AA for texts
	borderContrast = 3   // AA for the borders of controls
)

func TestContrastIsAA(t *testing.T) {
	t.Parallel()
	style := readStyle(t)
	for appearance, tokens := range appearances(t, style) {
		check := func(ink, ground string, least float64, where string) {
			if got := contrast(t, tokens[ink], tokens[ground]); got < least {
				t.Errorf("%s: %s on %s has %.2f, want %.1f%s", appearance, ink, ground, got, least, where)
			}
		}
		for ink, all := range inks {
			for _, ground := range all {
				check(ink, ground, textContrast, "")
			}
		}
		for _, ground := range grounds {
			check("edge", ground, borderContrast, "")
		}
		for _, rule := range regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`).FindAllStringSubmatch(blocks.ReplaceAllString(style, ""), -1) {
			ink := regexp.MustCompile(`(?:^|[; ])color: var\(--([a-z-]+)\)`).FindStringSubmatch(rule[2])
			ground := regexp.MustCompile(`(?:^|[; ])background(?:-color)?: var\(--([a-z-]+)\)`).FindStringSubmatch(rule[2])
			if ink != nil && ground != nil {
				check(ink[1], ground[1], textContrast, " in "+strings.TrimSpace(rule[1]))
			}
		}
	}
}

// contrast returns the contrast ratio of the Web Content Accessibility Guidelines.
func contrast(t *testing.T, one, other string) float64 {
	t.Helper()
	a, b := luminance(t, one), luminance(t, other)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

func luminance(t *testing.T, color string) (sum float64) {
	t.Helper()
	if len(color) != len("#rrggbb") {
		t.Fatalf("%q is no color", color)
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		part := float64(n) / 255
		if part <= 0.04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += weight * part
	}
	return sum
}

// All files together are at most 150 KB, compressed.
func TestAssetsAreSmall(t *testing.T) {
	t.Parallel()
	const limit = 150_000
	sizes := assets.Sizes()
	sum := 0
	for _, size := range sizes {
		sum += size
	}
	if sum > limit || len(sizes) < 4 {
		t.Errorf("%d bytes in %v, want at most %d", sum, sizes, limit)
	}
}
