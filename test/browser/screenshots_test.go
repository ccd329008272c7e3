package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// The environment variables of `make screenshots`: the folder of all pictures, and that of the README's.
const (
	folderVariable = "CAURI_SCREENSHOTS"
	readmeVariable = "CAURI_README_PICTURES"
)

// picture writes a picture of the window, or of the whole page.
func (b *tab) picture(file string, whole bool) {
	b.t.Helper()
	p := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(90))}
	if whole { // a window of the page's height has no part twice
		size := read[struct{ Width, Height int64 }](b, `({Width: innerWidth, Height: document.documentElement.scrollHeight})`)
		b.size(size.Width, size.Height)
	}
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, p)
	b.do(err)
	b.do(os.MkdirAll(filepath.Dir(file), 0o755))
	b.do(os.WriteFile(file, shot.Data, 0o644))
}

// pictures writes the page in each width and appearance.
func (b *tab) pictures(name string) {
	b.t.Helper()
	folder := os.Getenv(folderVariable)
	b.prefer("light")
	b.size(1280, 900)
	b.picture(filepath.Join(folder, name+".webp"), true)
	b.prefer("dark")
	b.picture(filepath.Join(folder, name+"-dark.webp"), true)
	b.prefer("light")
	b.size(390, 844)
	b.picture(filepath.Join(folder, name+"-390.webp"), true)
	b.size(1280, 900)
}

// frenchPictures writes the page in French, in each width.
func (b *tab) frenchPictures(address, name string) {
	b.t.Helper()
	b.speak("fr")
	defer b.speak("en")
	b.open(address)
	b.settled()
	for suffix, width := range map[string]int64{"": 1280, "-390": 390, "-320": 320} {
		b.size(width, 900)
		b.picture(filepath.Join(os.Getenv(folderVariable), name+"-fr"+suffix+".webp"), true)
	}
	b.size(1280, 900)
}

// readmePictures writes the pictures of the documents: Overview, and then Handsets with a phone that rings and one that
// has a receipt.
func (b *tab) readmePictures(s *shop, folder string) {
	b.t.Helper()
	b.size(1280, 920)
	write := func(path, name string) {
		b.open(consoleOf(s.Sandbox) + path)
		b.settled()
		b.prefer("light")
		b.picture(filepath.Join(folder, name+".webp"), false)
		b.prefer("dark")
		b.picture(filepath.Join(folder, name+"-dark.webp"), false)
	}
	write("/overview", "console")
	s.settled(s.pay("abj-2092", ibrahim, 25_000, nil))
	s.post("/test_clients/"+jeanBosco+"/manual", nil)
	s.pay("kivu-0773", jeanBosco, 12_500, nil)
	write("/handsets", "handsets")
}

// settled waits until the page says that it is live, if it is.
func (b *tab) settled() {
	b.t.Helper()
	if b.has(`[data-stream]`) {
		b.until(`!document.querySelector(".live.off")`)
	}
}

func named(namespace, name string) func(*sandboxes.Config) {
	return func(c *sandboxes.Config) { c.Namespace, c.Name = namespace, name }
}

// TestScreenshots writes pictures of all pages. They are looked at, and not compared.
func TestScreenshots(t *testing.T) {
	if os.Getenv(folderVariable) == "" {
		t.Skip("`make screenshots` writes them")
	}
	s := busyShop(t, named("team-payments", "checkout"))
	b := newTab(t)
	b.prefer("light")
	b.open(consoleOf(s.Sandbox) + "/sign-in")
	b.pictures("sign-in")
	b.frenchPictures(consoleOf(s.Sandbox)+"/sign-in", "sign-in")
	b.open(consoleOf(s.Sandbox) + "/sign-in")
	b.fill("#key", "cauri_sk_test_wrong")
	b.click("Sign in")
	b.shows("#key-wrong", "This is not a key")
	b.pictures("sign-in-wrong")
	b.open(s.link("viewer"))
	b.pictures("sign-in-link")
	b.signIn(s)
	b.open(consoleOf(s.Sandbox) + "/webhooks/grade")
	b.click("Check the receiver now")
	b.shows("#card .lead", "It ")
	for _, path := range b.pages() {
		name := strings.Trim(strings.NewReplacer("{id}", "one", "/", "-").Replace(id.ReplaceAllString(path, "/{id}")), "-")
		b.open(consoleOf(s.Sandbox) + path)
		b.settled()
		b.pictures(name)
		b.frenchPictures(consoleOf(s.Sandbox)+path, name)
	}
	b.open(consoleOf(s.Sandbox) + "/payments/" + s.paid)
	b.pictures("payments-one-refunded")
	b.frenchPictures(consoleOf(s.Sandbox)+"/payments/"+s.paid, "payments-one-refunded")
	b.open(consoleOf(s.Sandbox) + "/payments/" + s.paid)
	b.click("Refund…")
	b.pictures("payments-one-refund-dialog")
	b.open(consoleOf(s.Sandbox) + "/try")
	b.press(`document.querySelector("main form button.main")`)
	b.shows("#answer", "PENDING")
	b.pictures("try-answer")
	b.open(consoleOf(s.Sandbox) + "/try?amount=ten&number=0788")
	b.press(`document.querySelector("main form button.main")`)
	b.shows("#w-amount", "integer")
	b.pictures("try-refused")
	b.open(consoleOf(s.Sandbox) + "/try?kind=refund")
	b.pictures("try-refund")
	b.open(consoleOf(s.Sandbox) + "/handsets/" + aline)
	b.pictures("handset")
	b.open(consoleOf(s.Sandbox) + "/handsets")
	b.press(`document.querySelector('article [action$="/link"] button')`)
	b.shows("h1", "The phone of")
	b.pictures("handset-link")
	if folder := os.Getenv(readmeVariable); folder != "" {
		b.readmePictures(s, folder)
	}
	empty := newShop(t, system.Acknowledge, named("team-payments", "empty"))
	b.prefer("light")
	b.size(1280, 900)
	b.signIn(empty)
	for _, name := range []string{"overview", "handsets", "payments", "webhooks", "requests", "expectations"} {
		b.open(consoleOf(empty.Sandbox) + "/" + name)
		b.pictures(name + "-empty")
		b.frenchPictures(consoleOf(empty.Sandbox)+"/"+name, name+"-empty")
	}
}
