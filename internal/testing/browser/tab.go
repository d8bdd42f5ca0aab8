//go:build !js && !wasip1

package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// ScreenshotsVariable names the environment variable with a folder for screenshots. Without it they are test artifacts.
const ScreenshotsVariable = "SAMESTEP_SCREENSHOTS"

// A Tab is a page in the browser, with its own storage. An error in the console, or an exception, fails the test.
type Tab struct {
	T       testing.TB
	ctx     context.Context
	allowed []string // parts of messages that are no errors in this test
	shots   string   // the folder of the screenshots

	mu  sync.Mutex
	bad []string
}

// Open opens a page with the screen size of a laptop. A message of the console that has a part of allowed is no error.
func Open(t testing.TB, url string, allowed ...string) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browsers.ctx, chromedp.WithNewBrowserContext(), chromedp.WithNewWindow(true))
	b := &Tab{T: t, ctx: ctx, allowed: allowed, shots: os.Getenv(ScreenshotsVariable)}
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
		b.Shot("end")
		cancel()
		reading.Wait()
		for _, text := range b.bad {
			t.Errorf("the page's console: %s", text)
		}
	})
	b.Do(chromedp.EmulateViewport(1280, 800))
	b.Do(chromedp.Navigate(url))
	return b
}

func (b *Tab) note(m chromedp.ConsoleMessage) {
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

// Do runs steps of chromedp.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.T.Fatal(err)
	}
}

// Value returns the value of a JavaScript expression.
func Value[T any](b *Tab, expression string) T {
	b.T.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.T.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Until waits until an expression is true.
func (b *Tab) Until(expression string) {
	b.T.Helper()
	var err error
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var yes bool
		if yes, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")")); yes {
			return
		}
	}
	b.Shot("stuck")
	b.T.Fatalf("never true: %s (%v); the page says: %.500s", expression, err, b.Text())
}

// Shown waits until the element of a CSS selector is visible and has a text.
func (b *Tab) Shown(selector, text string) {
	b.T.Helper()
	b.Until(fmt.Sprintf(`(e => e && e.checkVisibility() && e.textContent.includes(%q))(document.querySelector(%q))`, text, selector))
}

// Text returns the text of the page.
func (b *Tab) Text() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// Slow limits the network of the page, in Mbit a second and milliseconds.
func (b *Tab) Slow(megabits, latencyMS float64) {
	b.T.Helper()
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		b.T.Fatal(err)
	}
	throughput := megabits * 1e6 / 8
	if _, err := chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Latency: latencyMS, DownloadThroughput: throughput, UploadThroughput: throughput}},
	}); err != nil {
		b.T.Fatal(err)
	}
}

// Offline takes the network from the page, or gives it back.
func (b *Tab) Offline(yes bool) {
	b.T.Helper()
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		b.T.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: yes, DownloadThroughput: -1, UploadThroughput: -1}},
	}); err != nil {
		b.T.Fatal(err)
	}
}

// Before runs a script at the beginning of every page that is loaded from now on.
func (b *Tab) Before(script string) {
	b.T.Helper()
	if _, err := chromedp.Call(b.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		b.T.Fatal(err)
	}
}

// Click clicks the element of a CSS selector with the mouse.
func (b *Tab) Click(selector string) {
	b.T.Helper()
	b.Until(fmt.Sprintf(`(e => e && e.checkVisibility() && !e.disabled)(document.querySelector(%q))`, selector))
	b.Do(chromedp.Click(chromedp.CSS(selector)))
}

// Keys presses keys.
func (b *Tab) Keys(keys string, modifiers ...chromedp.Modifier) {
	b.T.Helper()
	b.Do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// Dark switches the browser to dark or light colours.
func (b *Tab) Dark(yes bool) {
	b.T.Helper()
	scheme := "light"
	if yes {
		scheme = "dark"
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		b.T.Fatal(err)
	}
}

// Shot saves a screenshot, and looks for barriers (see [AxeVariable]).
func (b *Tab) Shot(name string) {
	b.T.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.T.Logf("screenshot %s: %v", name, err)
		return
	}
	path := filepath.Join(b.shots, strings.ReplaceAll(b.T.Name(), "/", "-")+"-"+name+".png")
	if err := os.WriteFile(path, picture, 0o666); err != nil {
		b.T.Error(err)
	}
	if name != "stuck" && name != "end" {
		b.audit(name)
	}
}

// Heap returns the bytes of the page's heap after a garbage collection.
func (b *Tab) Heap() float64 {
	b.T.Helper()
	if _, err := chromedp.Call(b.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
		b.T.Fatal(err)
	}
	return Value[float64](b, "performance.memory.usedJSHeapSize")
}

// Busy returns for how many seconds the page's thread has worked since the first call for this page.
func (b *Tab) Busy() float64 {
	b.T.Helper()
	if _, err := chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{}); err != nil {
		b.T.Fatal(err)
	}
	got, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.T.Fatal(err)
	}
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	b.T.Fatal("the browser does not measure the time of tasks")
	return 0
}
