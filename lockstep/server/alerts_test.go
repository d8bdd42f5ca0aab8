//go:build linux

package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/archive"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

const (
	alertsFile    = "../../docs/operations/alerts.yaml"
	dashboardFile = "../../docs/operations/dashboard.json"
)

// A scrape happens every scrapeEvery. A server is well for wellScrapes of them, and then broken for the rest.
const (
	scrapeEvery = 15 * time.Second
	wellScrapes = 12
	allScrapes  = 52
)

// A watched is a server on a bad disk that is scraped.
type watched struct {
	*stage
	disk   *badFile
	free   atomic.Int64 // bytes
	noFile atomic.Bool  // no file can be created
	kept   *archive.Archive
	down   bool
	values map[string][]string // of each series, one for each scrape
}

// scrape appends the values of all series that a rule reads.
func (w *watched) scrape(t *testing.T, n int, used *regexp.Regexp) {
	up := map[string]string{"up": "0"}
	if !w.down {
		up["up"] = "1"
		recorder, r := httptest.NewRecorder(), httptest.NewRequest("GET", "http://server/metrics", nil)
		r.RemoteAddr = "192.0.2.200:1"
		r.Header.Set("Authorization", "Bearer "+ops)
		if w.server.ServeHTTP(recorder, r); recorder.Code != 200 {
			t.Fatal(recorder.Code)
		}
		for line := range strings.Lines(recorder.Body.String()) {
			name, value, _ := strings.Cut(reverseCut(strings.TrimSpace(line)), "\x00")
			if v, err := strconv.ParseFloat(value, 64); err == nil && used.MatchString(line) {
				up[name] = strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
	}
	for name, v := range up {
		for len(w.values[name]) < n {
			w.values[name] = append(w.values[name], "_")
		}
		w.values[name] = append(w.values[name], v)
	}
}

// reverseCut replaces the last space, because labels have spaces.
func reverseCut(line string) string {
	at := strings.LastIndex(line, " ")
	if at < 0 || strings.HasPrefix(line, "#") {
		return line
	}
	return line[:at] + "\x00" + line[at+1:]
}

// test returns the scraped series as a test of promtool: no alert fires while the server is well, and those of want
// fire at the end.
func (w *watched) test(name string, want []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: %s\n    interval: 15s\n    input_series:\n", name)
	for _, series := range slices.Sorted(maps.Keys(w.values)) {
		name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		full := fmt.Sprintf(`%s{job="samestep",instance="game:8766",%s}`, name, labels)
		fmt.Fprintf(&b, "      - series: '%s'\n        values: '%s'\n", strings.ReplaceAll(full, "'", "''"), strings.Join(w.values[series], " "))
	}
	b.WriteString("    promql_expr_test:\n")
	for _, x := range []struct {
		scrapes int
		want    []string
	}{{wellScrapes, nil}, {allScrapes, want}} {
		fmt.Fprintf(&b, "      - expr: max by (alertname) (ALERTS{alertstate=\"firing\"})\n        eval_time: %v\n        exp_samples:\n", time.Duration(x.scrapes-1)*scrapeEvery)
		for _, alert := range x.want {
			fmt.Fprintf(&b, "          - {labels: '{alertname=\"%s\"}', value: 1}\n", alert)
		}
	}
	return b.String()
}

var alertName = regexp.MustCompile(`(?m)^ +- alert: (\w+)$`)

// Each alert fires when what it is about is broken on a real server, and none fires before. promtool evaluates the rules
// with what the server has told.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	testenv.Or(t, "promtool", err)
	rules, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\b(samestep|process)_[a-z_]+`).FindAllString(string(rules), -1)
	used := regexp.MustCompile(`^(` + strings.Join(names, "|") + `)[{ ]`)
	tests := "rule_files: [rules.yaml]\nevaluation_interval: 15s\ntests:\n"
	shown := map[string]bool{}
	for i, x := range breakages {
		shown[x.want[0]] = true
		if testenv.Small(t) && i%6 != 0 {
			continue
		}
		t.Run(x.want[0], func(t *testing.T) {
			w := &watched{disk: &badFile{}, kept: awayArchive(t), values: map[string][]string{}}
			w.free.Store(1 << 40)
			create := func(path string) (server.File, error) {
				if w.noFile.Load() {
					return nil, errors.New("no file can be created")
				}
				return w.disk.new(path)
			}
			slow := func(s *lockstep.Settings) { s.TickRate = 2 }
			inBubble(t, setup{newFile: create, settings: slow, options: server.Options{IdleMatch: -1, Metrics: []prometheus.Collector{w.kept.Collector()}}}, func(t *testing.T, s *stage) {
				w.stage = s
				s.server.SetFreeBytes(func(string) (int64, bool) { return w.free.Load(), true })
				for n := range allScrapes {
					if n >= wellScrapes {
						x.breakIt(t, w, n-wellScrapes)
					}
					w.scrape(t, n, used)
					time.Sleep(scrapeEvery)
				}
				w.disk.set(func() { w.disk.full, w.disk.slow = false, 0 })
			})
			tests += w.test(x.want[0], x.want)
		})
	}
	for _, m := range alertName.FindAllStringSubmatch(string(rules), -1) {
		if !shown[m[1]] {
			t.Errorf("no test shows that %s fires", m[1])
		}
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"rules.yaml": string(rules), "tests.yaml": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(promtool, "test", "rules", filepath.Join(dir, "tests.yaml")).CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// An awayStore is a store that takes nothing.
type awayStore struct{ *archive.Folder }

func (awayStore) Write(context.Context, string, []byte) error { return errors.New("the store is away") }

// awayArchive returns an archive with a store that takes nothing.
func awayArchive(t *testing.T) *archive.Archive {
	t.Helper()
	folder, err := archive.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.New(archive.Options{Store: awayStore{folder}, Index: filepath.Join(t.TempDir(), "index.db"), Log: slog.New(slog.DiscardHandler), Follow: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// breakages say how a server is broken, and which alerts fire then. breakIt is called before each scrape.
var breakages = []struct {
	want    []string
	breakIt func(t *testing.T, w *watched, n int)
}{
	{[]string{"SamestepDown"}, func(_ *testing.T, w *watched, _ int) { w.down = true }},
	{[]string{"SamestepNotReady", "SamestepDiskLow"}, func(_ *testing.T, w *watched, _ int) { w.free.Store(1 << 20) }},
	{[]string{"SamestepDiskLow"}, func(_ *testing.T, w *watched, _ int) { w.free.Store(900e6) }},
	{[]string{"SamestepMatchesHeld", "SamestepNotReady"}, func(_ *testing.T, w *watched, _ int) { w.disk.set(func() { w.disk.full = true }) }},
	{[]string{"SamestepDiskSlow"}, func(_ *testing.T, w *watched, _ int) { w.disk.set(func() { w.disk.slow = 2 * time.Second }) }},
	{[]string{"SamestepReplayFailures"}, func(t *testing.T, w *watched, n int) {
		w.noFile.Store(true)
		spec := server.MatchSpec{Name: "other", Game: w.game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9}}
		if _, err := w.server.Create(spec); n == 20 && !errors.Is(err, server.ErrStorage) {
			t.Errorf("got %v, want %v", err, server.ErrStorage)
		}
	}},
	{[]string{"SamestepArchiveWaiting"}, func(t *testing.T, w *watched, n int) {
		if n > 0 {
			return
		}
		path := filepath.Join(t.TempDir(), "over-01020300-desync-7-tie.zip")
		if err := os.WriteFile(path, []byte("a bundle"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.kept.Add(path)
	}},
	{[]string{"SamestepLate"}, func(t *testing.T, w *watched, _ int) {
		w.do(t, func(*host.Host) { time.Sleep(400 * time.Millisecond) })
	}},
	{[]string{"SamestepTicksSkipped"}, func(t *testing.T, w *watched, n int) {
		if n == 30 {
			w.do(t, func(*host.Host) { time.Sleep(time.Minute) })
		}
	}},
	{[]string{"SamestepDesyncs"}, func(t *testing.T, w *watched, n int) {
		if n == 30 {
			w.do(t, func(*host.Host) {
				w.match.Evidence(&host.Evidence{Report: coordinator.DesyncReport{Tick: 20}})
			})
		}
	}},
	{[]string{"SamestepPanics"}, func(t *testing.T, w *watched, n int) {
		if n == 30 {
			w.match.Do(t.Context(), func(*host.Host) { panic("a defect") })
		}
	}},
	{[]string{"SamestepTurnedAway"}, func(_ *testing.T, w *watched, _ int) {
		for range 60 {
			w.server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "http://elsewhere/matches", nil))
		}
	}},
	{[]string{"SamestepDescriptors"}, func(t *testing.T, w *watched, n int) {
		if n == 0 {
			starve(t)
		}
	}},
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

// Rules and dashboard read metrics that exist, and each alert has its page.
func TestAlertsAndDashboardReadMetrics(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
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
	read := metricName.FindAllString(string(rules), -1)
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			found := metricName.FindAllString(target.Expr, -1)
			if len(found) == 0 {
				t.Errorf("the panel %q reads no metric: %s", p.Title, target.Expr)
			}
			read = append(read, found...)
		}
	}
	inBubble(t, setup{options: server.Options{Metrics: []prometheus.Collector{awayArchive(t).Collector()}}}, func(t *testing.T, s *stage) {
		<-s.join(t, ada, wander).Ready()
		s.ask(t, "GET", "/matches/duel/play", "", "") // turned away
		time.Sleep(2 * time.Second)
		_, body := s.ask(t, "GET", "/metrics", "", "")
		for _, name := range append(read, "samestep_control") {
			exists := regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(body)
			if exists != (name != "samestep_control") {
				t.Errorf("%s: got %v", name, exists)
			}
		}
	})
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range alertName.FindAllSubmatch(rules, -1) {
		if !bytes.Contains(page, []byte("\n### "+string(m[1])+"\n")) {
			t.Errorf("docs/operations.md has no section for %s", m[1])
		}
		if !bytes.Contains(rules, []byte("docs/operations.md#"+strings.ToLower(string(m[1]))+"\n")) {
			t.Errorf("%s names no page", m[1])
		}
	}
}
