//go:build !js && !wasip1

package browser

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// Patience is a time limit for a test that hangs. It is long because a busy machine is slow.
const Patience = 4 * time.Minute

// browsers is the one browser of all tests. The first test starts it.
var browsers struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

// Main runs the tests of a package and stops the browser: the package's TestMain calls it.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain that does more. It returns the exit code.
func Run(m *testing.M) int {
	code := m.Run()
	if browsers.stop != nil {
		browsers.stop()
	}
	return code
}

// Needs skips a test without a browser or the go command. Together the tests with a browser take many minutes, so
// each is one of [testenv.Named].
func Needs(t *testing.T) {
	t.Helper()
	testenv.Named(t)
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
		chromedp.WSURLReadTimeout(Patience),
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
