//go:build unix

package clustertool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/testing/alerting"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

const operations = "../../../docs/operations"

// A scrape counts as one each alerting.Every, however fast the test makes them. A cluster is well for wellScrapes of them, and then
// broken for the rest.
const (
	wellScrapes = 12
	allScrapes  = 42
)

// clusterRules returns the alert rules of a cluster.
func clusterRules(t *testing.T) alerting.Rules {
	t.Helper()
	return alerting.Read(t, operations+"/cluster-alerts.yaml")
}

// A watch is a cluster that is scraped.
type watch struct {
	t       *testing.T
	dir     string
	jobs    map[string]string // of each address with /metrics
	down    string            // one of them that does not answer
	nats    string            // address of a node that stays, of several
	history *alerting.History
	client  http.Client
}

// newWatch returns a watch of a cluster without processes.
func newWatch(t *testing.T) *watch {
	w := &watch{t: t, dir: t.TempDir(), jobs: map[string]string{}, history: alerting.NewHistory(clusterRules(t)), client: http.Client{Transport: &http.Transport{}}}
	t.Cleanup(w.client.CloseIdleConnections)
	tokens(t, w.dir)
	return w
}

// scrape adds the metrics of all addresses to the history.
func (w *watch) scrape() {
	w.t.Helper()
	now := alerting.Scrape{}
	for url, job := range w.jobs {
		text := ""
		if url != w.down {
			text = w.metrics(url)
		}
		now[alerting.Target{Job: job, Instance: strings.TrimPrefix(url, "http://")}] = text
	}
	if err := w.history.Add(now); err != nil {
		w.t.Error(err)
	}
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
	url, stop = stoppableWith(w.t, "listening on ", fmt.Sprintf("serve --durability replicated --nats %s --listen 127.0.0.1:0 --name %s --dir %s --tokens %s/tokens.txt --set web=false --set max-requests=5000 %s", nats, name, filepath.Join(w.dir, name), w.dir, more), games...)
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

var metricName = regexp.MustCompile(`\bsamestep_[a-z_]+`)

// Each alert of a cluster fires when what it is about is broken in a real one, and none fires before. promtool evaluates the rules.
func TestClusterAlerts(t *testing.T) {
	testenv.Long(t)
	promtool, err := exec.LookPath("promtool")
	testenv.Or(t, "promtool", err)
	rules := clusterRules(t)
	var cases []string
	shown := map[string]bool{}
	for _, x := range clusterBreakages {
		t.Run(x.want[0], func(t *testing.T) {
			w := newWatch(t)
			brk := x.begin(w)
			for n := range allScrapes {
				if n >= wellScrapes {
					brk(n - wellScrapes)
				}
				w.scrape()
			}
			cases = append(cases, w.history.Case(x.want[0], alerting.Point{Scrape: wellScrapes - 1}, alerting.Point{Scrape: allScrapes - 1, Firing: x.want}))
		})
		for _, alert := range x.want {
			shown[alert] = true
		}
	}
	for _, name := range rules.Alerts() {
		if !shown[name] {
			t.Errorf("no test shows that %s fires", name)
		}
	}
	if err := rules.Evaluate(t, promtool, cases...); err != nil {
		t.Error(err)
	}
}

// The first scrapes of a cluster have each series that a rule reads, the dashboard reads metrics that exist, and each alert has its page.
func TestClusterAlertsReadMetrics(t *testing.T) {
	t.Parallel()
	rules := clusterRules(t)
	dashboard, err := os.ReadFile(operations + "/cluster-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(dashboard) {
		t.Error("the dashboard is not JSON")
	}
	w := newWatch(t)
	nats, _ := w.node("a", "")
	server, _ := w.server("one", nats, "--game minimal --set anonymous-spectators=true --set archive=nats:")
	mirror := strings.TrimSuffix(background(t, "mirror at ", "mirror --listen 127.0.0.1:0 --nats "+nats), "/")
	w.jobs[mirror] = "samestep-mirror"
	first := ""
	for url := range w.jobs {
		first += w.metrics(url)
	}
	if missing := rules.Missing(first); len(missing) > 0 {
		t.Errorf("the first scrapes have no %q", missing)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, _, err := websocket.Dial(ctx, strings.Replace(mirror, "http", "ws", 1)+"/matches/match-1/play", &websocket.DialOptions{Subprotocols: []string{client.Subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	get(t, server+"/readyz")
	all := ""
	for url := range w.jobs {
		all += w.metrics(url)
	}
	for _, name := range append(metricName.FindAllString(string(dashboard), -1), "samestep_control") {
		exists := regexp.MustCompile(`(?m)^# TYPE ` + strings.TrimSuffix(name, "_bucket") + ` `).MatchString(all)
		if exists != (name != "samestep_control") {
			t.Errorf("%s: got %v", name, exists)
		}
	}
	if blind := rules.Blind(); len(blind) > 0 {
		t.Errorf("%q miss what happened before the first scrape: read the age of a measure.Failure", blind)
	}
	page, err := os.ReadFile(operations + ".md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range rules.Alerts() {
		if !strings.Contains(string(page), "\n### "+name+"\n") || !strings.Contains(string(rules), "docs/operations.md#"+strings.ToLower(name)+"\n") {
			t.Errorf("docs/operations.md has no section for %s, or it has no link to it", name)
		}
	}
}
