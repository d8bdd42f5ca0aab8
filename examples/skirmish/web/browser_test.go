//go:build !js && !wasip1

package web_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// patience is a time limit for a test that hangs. It is long because a busy machine is slow.
const patience = 4 * time.Minute

// ScreenshotsVariable names the environment variable with a folder for screenshots. Without it they are test artifacts.
const ScreenshotsVariable = "SAMESTEP_SCREENSHOTS"

// browsers is the one browser of all tests. The first test starts it.
var browsers struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browsers.stop != nil {
		browsers.stop()
	}
	os.Exit(code)
}

// BrowserVariable names the environment variable that skips these tests if it is "off".
const BrowserVariable = "SAMESTEP_BROWSER"

// needsBrowser skips a test without a browser, and where BrowserVariable is off.
func needsBrowser(t *testing.T) {
	t.Helper()
	if testing.Short() || os.Getenv(BrowserVariable) == "off" {
		t.Skip("tests in a browser are left out of short tests, and if " + BrowserVariable + " is off")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	browsers.once.Do(startBrowser)
	testenv.Or(t, "Chromium", browsers.err)
}

func startBrowser() {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, browsers.err = exec.LookPath(name); browsers.err == nil {
			break
		}
	}
	if browsers.err != nil {
		return
	}
	dir, err := os.MkdirTemp("", "samestep-browser-*")
	if err != nil {
		browsers.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("mute-audio", true),
		chromedp.WSURLReadTimeout(patience),
	)
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stopBrowser := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {})) // events of newer browsers are no errors
	browsers.ctx = ctx
	browsers.stop = func() {
		stopBrowser()
		stopAllocator()
		os.RemoveAll(dir)
	}
	browsers.err = chromedp.Do(ctx)
}

// A tab is a page in the browser, with its own storage. An error in the console, or an exception, fails the test.
type tab struct {
	t       *testing.T
	ctx     context.Context
	allowed []string // parts of messages that are no errors in this test
	shots   string   // the folder of the screenshots

	mu  sync.Mutex
	bad []string
}

// newTab opens a page with the screen size of a laptop.
func newTab(t *testing.T, url string, allowed ...string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browsers.ctx, chromedp.WithNewBrowserContext(), chromedp.WithNewWindow(true))
	b := &tab{t: t, ctx: ctx, allowed: allowed, shots: os.Getenv(ScreenshotsVariable)}
	if b.shots == "" {
		b.shots = t.ArtifactDir()
	}
	console := chromedp.Console(ctx)
	var reading sync.WaitGroup
	reading.Go(func() {
		for m, err := range console {
			if err != nil {
				return
			}
			b.note(m)
		}
	})
	t.Cleanup(func() {
		b.shot("end")
		cancel()
		reading.Wait()
		for _, text := range b.bad {
			t.Errorf("the page's console: %s", text)
		}
	})
	b.do(chromedp.EmulateViewport(1280, 800))
	b.do(chromedp.Navigate(url))
	return b
}

func (b *tab) note(m chromedp.ConsoleMessage) {
	if m.Type != chromedp.ConsoleError && m.Type != chromedp.ConsoleWarning && !m.IsException() {
		return
	}
	text := fmt.Sprintf("%s (%s:%d)", m, m.URL, m.Line+1)
	for _, part := range b.allowed {
		if strings.Contains(text, part) {
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = append(b.bad, text)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// value returns the value of a JavaScript expression.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var yes bool
		if yes, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")")); yes {
			return
		}
	}
	b.shot("stuck")
	b.t.Fatalf("never true: %s (%v); the page says: %.500s", expression, err, b.text())
}

// shown waits until the element of a CSS selector is visible and has a text.
func (b *tab) shown(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(e => e && e.checkVisibility() && e.textContent.includes(%q))(document.querySelector(%q))`, text, selector))
}

// text returns the text of the page.
func (b *tab) text() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// click clicks the element of a CSS selector with the mouse.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(e => e && e.checkVisibility() && !e.disabled)(document.querySelector(%q))`, selector))
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// keys presses keys.
func (b *tab) keys(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// dark switches the browser to dark or light colours.
func (b *tab) dark(yes bool) {
	b.t.Helper()
	scheme := "light"
	if yes {
		scheme = "dark"
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

// shot saves a screenshot.
func (b *tab) shot(name string) {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Logf("screenshot %s: %v", name, err)
		return
	}
	path := filepath.Join(b.shots, strings.ReplaceAll(b.t.Name(), "/", "-")+"-"+name+".png")
	if err := os.WriteFile(path, picture, 0o666); err != nil {
		b.t.Error(err)
	}
}
