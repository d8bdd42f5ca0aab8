//go:build linux

package server_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"math/big"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/internal/testing/alerting"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

const dashboardFile = "../docs/operations/dashboard.json"

// A server is well for wellScrapes, and then broken for the rest. What happens once happens at eventScrape.
const (
	wellScrapes = 12
	eventScrape = wellScrapes + 30
	allScrapes  = 52
)

// rules returns the alert rules of a server.
func rules(t *testing.T) alerting.Rules {
	t.Helper()
	return alerting.Read(t, "../docs/operations/alerts.yaml")
}

// promtool returns the path of the program.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	testenv.Or(t, "promtool", err)
	return path
}

// A watched is a server on a bad disk that is scraped.
type watched struct {
	*stage
	disk    *badFile
	free    atomic.Int64 // bytes
	noFile  atomic.Bool  // no file can be created
	away    atomic.Bool  // the store of the archive
	failed  atomic.Bool  // the last reading of the tokens
	expires time.Time    // the certificate
	kept    *archive.Archive
	down    bool
	history *alerting.History
	setup   setup
}

// newWatched returns a server to be. It must be called in the bubble of the server.
func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{disk: &badFile{}, history: alerting.NewHistory(rules(t)), expires: time.Date(2001, time.January, 1, 0, 0, 0, 0, time.UTC)}
	w.kept = w.newArchive(t)
	w.free.Store(1 << 40)
	create := func(path string) (server.File, error) {
		if w.noFile.Load() {
			return nil, errors.New("no file can be created")
		}
		return w.disk.new(path)
	}
	more := []prometheus.Collector{w.kept.Collector(), measure.Reload("tokens", w.failed.Load), measure.Certificate("tls-cert", w.certificate)}
	w.setup = setup{newFile: create, settings: slowly, pipes: true, options: server.Options{Limits: server.Limits{IdleMatch: -1}, KeepOpen: true, Metrics: more}}
	return w
}

// certificate returns one that expires when the test says.
func (w *watched) certificate() *tls.Certificate {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: w.expires}
	der, err := x509.CreateCertificate(nil, form, form, key.Public(), key)
	if err != nil {
		panic(err) // the form is well
	}
	return &tls.Certificate{Certificate: [][]byte{der}}
}

// begin starts the server.
func (w *watched) begin(t *testing.T) {
	t.Helper()
	w.stage = newStage(t, w.setup)
	w.server.SetFreeBytes(func(string) (int64, bool) { return w.free.Load(), true })
}

// text returns the metrics.
func (w *watched) text(t *testing.T) string {
	t.Helper()
	recorder, r := httptest.NewRecorder(), httptest.NewRequest("GET", "http://server/metrics", nil)
	r.RemoteAddr = "192.0.2.200:1"
	r.Header.Set("Authorization", "Bearer "+ops)
	if w.server.ServeHTTP(recorder, r); recorder.Code != 200 {
		t.Fatal(recorder.Code)
	}
	return recorder.Body.String()
}

// scrape adds the metrics to the history, and waits until the next scrape.
func (w *watched) scrape(t *testing.T) {
	t.Helper()
	text := ""
	if !w.down {
		text = w.text(t)
	}
	if err := w.history.Add(alerting.Scrape{{Job: "samestep", Instance: "game:8766"}: text}); err != nil {
		t.Error(err)
	}
	time.Sleep(alerting.Every)
}

// Each alert fires when what it is about is broken on a real server, and none fires before. What happens once also makes it fire if
// it happens before the first scrape. promtool evaluates the rules with what the server has told.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool := promtool(t)
	shown := map[string]bool{}
	var cases []string
	for i, x := range breakages {
		shown[x.want[0]] = true
		if testenv.Small(t) && i%6 != 0 {
			continue
		}
		t.Run(x.want[0], func(t *testing.T) {
			var w *watched
			virtually(t, func(t *testing.T) {
				w = newWatched(t)
				w.begin(t)
				for n := range allScrapes {
					switch {
					case n == eventScrape && x.once != nil:
						x.once(t, w)
					case n >= wellScrapes && x.breakIt != nil:
						x.breakIt(t, w, n-wellScrapes)
					}
					w.scrape(t)
				}
				w.disk.set(func() { w.disk.full, w.disk.slow = false, 0 })
			})
			cases = append(cases, w.history.Case(x.want[0], alerting.Point{Scrape: wellScrapes - 1}, alerting.Point{Scrape: allScrapes - 1, Firing: x.want}))
			if x.once == nil || x.late {
				return
			}
			virtually(t, func(t *testing.T) {
				w = newWatched(t)
				w.begin(t)
				x.once(t, w)
				time.Sleep(time.Second)
				for range wellScrapes {
					w.scrape(t)
				}
			})
			cases = append(cases, w.history.Case(x.want[0]+" before the first scrape", alerting.Point{Scrape: wellScrapes - 1, Firing: x.want}))
		})
	}
	for _, name := range rules(t).Alerts() {
		if !shown[name] {
			t.Errorf("no test shows that %s fires", name)
		}
	}
	if err := rules(t).Evaluate(t, promtool, cases...); err != nil {
		t.Error(err)
	}
}

// An awayStore is a store that takes nothing while it is away.
type awayStore struct {
	*archive.Folder
	away *atomic.Bool
}

func (s awayStore) Write(ctx context.Context, name string, b []byte) error {
	if s.away.Load() {
		return errors.New("the store is away")
	}
	return s.Folder.Write(ctx, name, b)
}

// newArchive returns the archive of the server.
func (w *watched) newArchive(t *testing.T) *archive.Archive {
	t.Helper()
	folder, err := archive.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.New(archive.Options{Store: awayStore{folder, &w.away}, Index: filepath.Join(t.TempDir(), "index.db"), Log: slog.New(slog.DiscardHandler), Follow: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// breakages say how a server is broken, and which alerts fire then. breakIt is called before each scrape, once only before one of
// them. What is late is seen by a rate, which has no first scrape to compare with.
var breakages = []struct {
	want    []string
	breakIt func(t *testing.T, w *watched, n int)
	once    func(t *testing.T, w *watched)
	late    bool
}{
	{want: []string{"SamestepDown"}, breakIt: func(_ *testing.T, w *watched, _ int) { w.down = true }},
	{want: []string{"SamestepNotReady", "SamestepDiskLow"}, breakIt: func(_ *testing.T, w *watched, _ int) { w.free.Store(1 << 20) }},
	{want: []string{"SamestepDiskLow"}, breakIt: func(_ *testing.T, w *watched, _ int) { w.free.Store(900e6) }},
	{want: []string{"SamestepMatchesHeld", "SamestepNotReady"}, breakIt: func(_ *testing.T, w *watched, _ int) { w.disk.set(func() { w.disk.full = true }) }},
	{want: []string{"SamestepDiskSlow"}, breakIt: func(_ *testing.T, w *watched, _ int) { w.disk.set(func() { w.disk.slow = 2 * time.Second }) }},
	{want: []string{"SamestepReplayFailures"}, once: func(t *testing.T, w *watched) {
		w.noFile.Store(true)
		spec := server.MatchSpec{Name: "other", Game: w.game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9}}
		if _, err := w.server.Create(spec); !errors.Is(err, server.ErrStorage) {
			t.Errorf("got %v, want %v", err, server.ErrStorage)
		}
	}},
	{want: []string{"SamestepMatchSetAside"}, once: func(t *testing.T, w *watched) { w.setAside(t, "lost") }},
	{want: []string{"SamestepMatchSetAside"}, once: func(t *testing.T, w *watched) {
		lost := make(chan error, 1)
		log := server.Interrupted{Path: filepath.Join(w.dir, "live", "lost-01020300.ssr"), Spec: server.MatchSpec{Game: w.game}}
		w.server.Recover([]server.Interrupted{log}, func(_ server.Interrupted, _ *server.Match, err error) { lost <- err })
		if err := <-lost; err == nil {
			t.Error("got a match of a log that is not there")
		}
	}},
	{want: []string{"SamestepArchiveWaiting"}, breakIt: func(t *testing.T, w *watched, n int) {
		if n == 0 {
			w.away.Store(true)
			w.archive(t)
		}
	}},
	{want: []string{"SamestepLate"}, breakIt: func(t *testing.T, w *watched, _ int) {
		for range 3 {
			w.stall(t, 400*time.Millisecond)
		}
	}},
	{want: []string{"SamestepTicksSkipped"}, late: true, once: func(t *testing.T, w *watched) {
		w.do(t, func(*host.Host) { time.Sleep(20 * time.Second) })
	}},
	{want: []string{"SamestepDesyncs"}, once: func(t *testing.T, w *watched) {
		w.do(t, func(*host.Host) {
			w.match.Evidence(&host.Evidence{Report: coordinator.DesyncReport{Tick: 20}})
		})
	}},
	{want: []string{"SamestepPanics"}, once: func(t *testing.T, w *watched) {
		w.match.Do(t.Context(), func(*host.Host) { panic("a defect") })
	}},
	{want: []string{"SamestepTurnedAway"}, breakIt: func(_ *testing.T, w *watched, _ int) {
		for range 60 {
			w.server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "http://elsewhere/matches", nil))
		}
	}},
	{want: []string{"SamestepDescriptors"}, breakIt: func(t *testing.T, w *watched, n int) {
		if n == 0 {
			starve(t)
		}
	}},
	{want: []string{"SamestepReloadFailed"}, breakIt: func(_ *testing.T, w *watched, _ int) { w.failed.Store(true) }},
	{want: []string{"SamestepCertificate"}, breakIt: func(_ *testing.T, w *watched, _ int) { w.expires = time.Now().Add(14*24*time.Hour - time.Minute) }},
}

// archive gives the archive a file.
func (w *watched) archive(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "over-01020300-desync-7-tie.zip")
	if err := os.WriteFile(path, []byte("a bundle"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.kept.Add(path)
}

// starve leaves the process few file descriptors until the test is over.
func starve(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	lower := limit
	lower.Cur = uint64(len(open)) + 10
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lower); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) })
}

var metricName = regexp.MustCompile(`\b(samestep|process|go)_[a-z_]+`)

// The first scrape of a server with a match has each series that a rule reads, the dashboard reads metrics that exist, and each alert
// has its page.
func TestAlertsAndDashboardReadMetrics(t *testing.T) {
	t.Parallel()
	alerts := rules(t)
	dashboard, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(dashboard, &board); err != nil || len(board.Panels) < 10 {
		t.Fatalf("got %d panels, %v", len(board.Panels), err)
	}
	var read []string
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			found := metricName.FindAllString(target.Expr, -1)
			if len(found) == 0 {
				t.Errorf("the panel %q reads no metric: %s", p.Title, target.Expr)
			}
			read = append(read, found...)
		}
	}
	virtually(t, func(t *testing.T) {
		w := newWatched(t)
		w.begin(t)
		first := w.text(t)
		if missing := alerts.Missing(first); len(missing) > 0 {
			t.Errorf("the first scrape has no %q", missing)
		}
		for _, name := range append(read, "samestep_control") {
			exists := regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(first)
			if exists != (name != "samestep_control") {
				t.Errorf("%s: got %v", name, exists)
			}
		}
		control := alerting.Rules("        expr: samestep_turned_away_total{reason=\"socket\"} > 0 or samestep_turned_away_total{reason=\"control\"} > 0\n")
		if missing := control.Missing(first); !slices.Equal(missing, []string{`samestep_turned_away_total{reason="control"}`}) {
			t.Errorf("the control: got %q missing", missing)
		}
	})
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	if blind := alerts.Blind(); len(blind) > 0 {
		t.Errorf("%q miss what happened before the first scrape: read the age of a measure.Failure", blind)
	}
	for _, name := range alerts.Alerts() {
		if !bytes.Contains(page, []byte("\n### "+name+"\n")) {
			t.Errorf("docs/operations.md has no section for %s", name)
		}
		if !strings.Contains(string(alerts), "docs/operations.md#"+strings.ToLower(name)+"\n") {
			t.Errorf("%s names no page", name)
		}
	}
}
