//go:build unix

package clustertool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/client"
)

const operations = "../../../docs/operations"

// A scrape counts as one every 15 s, however fast the test makes them. A cluster is well for wellScrapes of them, and then
// broken for the rest.
const (
	wellScrapes = 12
	allScrapes  = 42
)

// A watch is a cluster that is scraped.
type watch struct {
	t      *testing.T
	dir    string
	used   *regexp.Regexp
	jobs   map[string]string // of each address with /metrics
	down   string            // one of them that does not answer
	nats   string            // address of a node that stays, of several
	values map[string][]string
	client http.Client
}

// newWatch returns a watch of a cluster without processes.
func newWatch(t *testing.T) *watch {
	w := &watch{t: t, dir: t.TempDir(), jobs: map[string]string{}, values: map[string][]string{}, client: http.Client{Transport: &http.Transport{}}}
	t.Cleanup(w.client.CloseIdleConnections)
	tokens(t, w.dir)
	return w
}

// scrape appends the values of all series that a rule reads.
func (w *watch) scrape(n int) {
	w.t.Helper()
	now := map[string]string{}
	for url, job := range w.jobs {
		labels := fmt.Sprintf(`job="%s",instance="%s"`, job, strings.TrimPrefix(url, "http://"))
		now["up{"+labels+"}"] = "1"
		if url == w.down {
			now["up{"+labels+"}"] = "0"
			continue
		}
		for line := range strings.Lines(w.metrics(url)) {
			if !w.used.MatchString(line) {
				continue
			}
			at := strings.LastIndex(line, " ")
			v, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
			if err != nil {
				w.t.Fatal(err)
			}
			name, own, _ := strings.Cut(strings.TrimSuffix(line[:at], "}"), "{")
			now[name+"{"+labels+","+own+"}"] = strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	for name, v := range now {
		for len(w.values[name]) < n {
			w.values[name] = append(w.values[name], "_")
		}
		w.values[name] = append(w.values[name], v)
	}
}

// test returns the scraped series as a test of promtool: no alert fires while the cluster is well, and those of want do at the
// end.
func (w *watch) test(want []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: %s\n    interval: 15s\n    input_series:\n", want[0])
	for _, series := range slices.Sorted(maps.Keys(w.values)) {
		fmt.Fprintf(&b, "      - series: '%s'\n        values: '%s'\n", strings.ReplaceAll(series, "'", "''"), strings.Join(w.values[series], " "))
	}
	b.WriteString("    promql_expr_test:\n")
	for _, x := range []struct {
		scrapes int
		want    []string
	}{{wellScrapes, nil}, {allScrapes, want}} {
		fmt.Fprintf(&b, "      - expr: max by (alertname) (ALERTS{alertstate=\"firing\"})\n        eval_time: %v\n        exp_samples:\n", time.Duration(x.scrapes-1)*15*time.Second)
		for _, alert := range x.want {
			fmt.Fprintf(&b, "          - {labels: '{alertname=\"%s\"}', value: 1}\n", alert)
		}
	}
	return b.String()
}

// metrics returns the metrics at a URL. All connections are kept: addresses may make few in a second.
func (w *watch) metrics(url string) string {
	w.t.Helper()
	answer, err := w.client.Get(url + "/metrics")
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: got %s, %v", url, answer.Status, err)
	}
	return string(b)
}

// node starts a storage node, and returns its address and what stops it.
func (w *watch) node(name, more string) (url string, stop func()) {
	w.t.Helper()
	metrics := freeAddress(w.t)
	url, stop = stoppable(w.t, "storage at ", fmt.Sprintf("storage --name %s --listen 127.0.0.1:0 --metrics %s --dir %s %s", name, metrics, filepath.Join(w.dir, name), more))
	w.jobs["http://"+metrics] = "samestep-storage"
	return url, stop
}

// server starts a server, and returns what stops it.
func (w *watch) server(name, nats, more string) (url string, stop func()) {
	w.t.Helper()
	return w.serverWith(name, nats, more, games.All()...)
}

// serverWith is server with other games.
func (w *watch) serverWith(name, nats, more string, games ...tool.Game) (url string, stop func()) {
	w.t.Helper()
	url, stop = stoppableWith(w.t, "listening on ", fmt.Sprintf("serve --durability replicated --nats %s --listen 127.0.0.1:0 --name %s --dir %s --tokens %s/tokens.txt --web=false --max-requests 5000 %s", nats, name, filepath.Join(w.dir, name), w.dir, more), games...)
	w.jobs[url] = "samestep"
	return url, stop
}

// value returns the value of a metric, or -1.
func (w *watch) value(url, name string) float64 {
	_, rest, ok := strings.Cut(w.metrics(url), "\n"+name+" ")
	if !ok {
		return -1
	}
	text, _, _ := strings.Cut(rest, "\n")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

var (
	alertName  = regexp.MustCompile(`(?m)^ +- alert: (\w+)$`)
	metricName = regexp.MustCompile(`\bsamestep_[a-z_]+`)
)

// Each alert of a cluster fires when what it is about is broken in a real one, and none fires before. promtool evaluates the rules.
func TestClusterAlerts(t *testing.T) {
	testenv.Long(t)
	promtool, err := exec.LookPath("promtool")
	testenv.Or(t, "promtool", err)
	rules, err := os.ReadFile(operations + "/cluster-alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	used := regexp.MustCompile(`^(` + strings.Join(metricName.FindAllString(string(rules), -1), "|") + `)[{ ]`)
	tests := "rule_files: [rules.yaml]\nevaluation_interval: 15s\ntests:\n"
	shown := map[string]bool{}
	for _, x := range clusterBreakages {
		t.Run(x.want[0], func(t *testing.T) {
			w := newWatch(t)
			w.used = used
			brk := x.begin(w)
			for n := range allScrapes {
				if n >= wellScrapes {
					brk(n - wellScrapes)
				}
				w.scrape(n)
			}
			tests += w.test(x.want)
		})
		for _, alert := range x.want {
			shown[alert] = true
		}
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
	if out, err := exec.Command(promtool, "test", "rules", filepath.Join(dir, "tests.yaml")).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// Rules and dashboard of a cluster read metrics that exist, and each alert has its page.
func TestClusterAlertsReadMetrics(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile(operations + "/cluster-alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dashboard, err := os.ReadFile(operations + "/cluster-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(dashboard) {
		t.Error("the dashboard is not JSON")
	}
	w := newWatch(t)
	nats, _ := w.node("a", "")
	server, _ := w.server("one", nats, "--game minimal --anonymous-spectators --archive nats:")
	relay := strings.TrimSuffix(background(t, "relay at ", "relay --listen 127.0.0.1:0 --nats "+nats), "/")
	w.jobs[relay] = "samestep-relay"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, _, err := websocket.Dial(ctx, strings.Replace(relay, "http", "ws", 1)+"/matches/match-1/play", &websocket.DialOptions{Subprotocols: []string{client.Subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	get(t, server+"/readyz")
	all := ""
	for url := range w.jobs {
		all += w.metrics(url)
	}
	for _, name := range append(metricName.FindAllString(string(rules)+string(dashboard), -1), "samestep_control") {
		exists := regexp.MustCompile(`(?m)^# TYPE ` + strings.TrimSuffix(name, "_bucket") + ` `).MatchString(all)
		if exists != (name != "samestep_control") {
			t.Errorf("%s: got %v", name, exists)
		}
	}
	page, err := os.ReadFile(operations + ".md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range alertName.FindAllStringSubmatch(string(rules), -1) {
		if !strings.Contains(string(page), "\n### "+m[1]+"\n") || !strings.Contains(string(rules), "docs/operations.md#"+strings.ToLower(m[1])+"\n") {
			t.Errorf("docs/operations.md has no section for %s, or it has no link to it", m[1])
		}
	}
}
