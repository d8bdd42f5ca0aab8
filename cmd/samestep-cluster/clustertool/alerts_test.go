//go:build unix

package clustertool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
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

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
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
	values map[string][]string
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
		for line := range strings.Lines(get(w.t, url+"/metrics")) {
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
	url, stop = stoppable(w.t, "listening on ", fmt.Sprintf("serve --durability replicated --nats %s --listen 127.0.0.1:0 --name %s --dir %s --tokens %s/tokens.txt --web=false --max-requests 5000 %s", nats, name, filepath.Join(w.dir, name), w.dir, more))
	w.jobs[url] = "samestep"
	return url, stop
}

// slowly listens for connections to a storage node, whose answers it delays.
func slowly(t *testing.T, url string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", strings.TrimPrefix(url, "nats://"))
			if err != nil {
				c.Close()
				continue
			}
			go func() { defer s.Close(); io.Copy(s, c) }()
			go func() {
				defer c.Close()
				for b := make([]byte, 1<<16); ; {
					n, err := s.Read(b)
					time.Sleep(250 * time.Millisecond)
					if _, werr := c.Write(b[:n]); err != nil || werr != nil {
						return
					}
				}
			}()
		}
	}()
	return "nats://" + l.Addr().String()
}

// clusterBreakages say how a cluster is made, and broken, and which alerts fire then. brk is called before each scrape of the
// broken cluster.
var clusterBreakages = []struct {
	want  []string
	begin func(w *watch) (brk func(n int))
}{
	{[]string{"SamestepClusterDown"}, func(w *watch) func(int) {
		w.node("a", "")
		return func(int) { w.down = slices.Collect(maps.Keys(w.jobs))[0] }
	}},
	{[]string{"SamestepNoLease"}, func(w *watch) func(int) {
		nats, stop := w.node("a", "")
		server, _ := w.server("one", nats, "--game minimal")
		w.jobs = map[string]string{server: "samestep"}
		return func(n int) {
			if n > 0 {
				return
			}
			stop()
			await(w.t, "the lease is old", func() bool { return w.value(server, "samestep_cluster_lease_age_seconds") > 6 })
		}
	}},
	{[]string{"SamestepStorageSlow"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		w.server("one", nats, "--game minimal --start now")
		var slow string
		return func(n int) {
			if n == 0 {
				slow, _ = w.server("two", slowly(w.t, nats), "--game minimal --start now --matches 2")
			}
			before := w.value(slow, "samestep_cluster_append_seconds_count")
			await(w.t, "it appends something", func() bool { return w.value(slow, "samestep_cluster_append_seconds_count") > before })
		}
	}},
	{[]string{"SamestepTakeoverFailed", "SamestepMatchFailed"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		one, stop := w.server("one", nats, "--game minimal")
		two, _ := w.server("two", nats, "--game minimal --matches 0")
		delete(w.jobs, one)
		return func(n int) {
			if n > 0 {
				return
			}
			live := filepath.Join(w.dir, "two", "live")
			if err := os.RemoveAll(live); err != nil {
				w.t.Fatal(err)
			}
			if err := os.WriteFile(live, nil, 0o600); err != nil {
				w.t.Fatal(err)
			}
			stop()
			await(w.t, "a match has failed", func() bool { return w.value(two, `samestep_cluster_matches{state="failed"}`) > 0 })
		}
	}},
	{[]string{"SamestepMatchWaiting"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		one, stop := w.server("one", nats, "--game minimal")
		two, _ := w.server("two", nats, "--game skirmish --matches 0")
		delete(w.jobs, one)
		return func(n int) {
			if n == 0 {
				stop()
				await(w.t, "a match waits", func() bool { return w.value(two, `samestep_cluster_matches{state="waiting"}`) > 0 })
			}
		}
	}},
	{[]string{"SamestepStorageNodeLost"}, func(w *watch) func(int) { return w.threeNodes(1) }},
	{[]string{"SamestepStorageNotReady", "SamestepStorageNodeLost"}, func(w *watch) func(int) { return w.threeNodes(2) }},
	{[]string{"SamestepRelayRefuses"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		server, _ := w.server("one", nats, "--game minimal --anonymous-spectators")
		relay := strings.TrimSuffix(background(w.t, "relay at ", "relay --listen 127.0.0.1:0 --max-per-address 1 --upstream "+server), "/")
		w.jobs = map[string]string{relay: "samestep-relay"}
		play := strings.Replace(relay, "http", "ws", 1) + "/matches/match-1/play"
		return func(int) {
			for range 15 {
				ctx, cancel := context.WithTimeout(w.t.Context(), patience)
				if c, _, err := websocket.Dial(ctx, play, &websocket.DialOptions{Subprotocols: []string{"samestep"}}); err == nil {
					w.t.Cleanup(func() { c.CloseNow() })
				}
				cancel()
			}
			time.Sleep(150 * time.Millisecond) // the budget of connections
		}
	}},
}

// threeNodes starts three nodes. The first time it is called, what it returns stops some.
func (w *watch) threeNodes(lost int) func(int) {
	routes := ""
	var addresses []string
	for range 3 {
		addresses = append(addresses, freeAddress(w.t))
		routes += " --route " + addresses[len(addresses)-1]
	}
	var stops []func()
	for i, name := range []string{"a", "b", "c"} {
		_, stop := w.node(name, "--cluster "+addresses[i]+routes)
		if i > 0 {
			stops = append(stops, stop)
		}
	}
	urls := slices.Collect(maps.Keys(w.jobs))
	await(w.t, "the nodes are one storage", func() bool {
		return !slices.ContainsFunc(urls, func(url string) bool {
			return w.value(url, "samestep_storage_ready") != 1 || w.value(url, "samestep_storage_connected") != 3
		})
	})
	return func(n int) {
		if n > 0 {
			return
		}
		for _, stop := range stops[:lost] {
			stop()
		}
		for url := range w.jobs { // what does not answer is another alert
			if !answers(url) {
				delete(w.jobs, url)
			}
		}
		await(w.t, "a node is lost", func() bool {
			for url := range w.jobs {
				if w.value(url, "samestep_storage_connected") != float64(3-lost) || lost > 1 && w.value(url, "samestep_storage_ready") > 0 {
					return false
				}
			}
			return true
		})
	}
}

// answers reports whether something listens at a URL.
func answers(url string) bool {
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// value returns the value of a metric, or -1.
func (w *watch) value(url, name string) float64 {
	_, rest, ok := strings.Cut(get(w.t, url+"/metrics"), "\n"+name+" ")
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
			w := &watch{t: t, dir: t.TempDir(), used: used, jobs: map[string]string{}, values: map[string][]string{}}
			tokens(t, w.dir)
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
	w := &watch{t: t, dir: t.TempDir(), jobs: map[string]string{}}
	tokens(t, w.dir)
	nats, _ := w.node("a", "")
	server, _ := w.server("one", nats, "--game minimal --anonymous-spectators --archive nats:")
	relay := strings.TrimSuffix(background(t, "relay at ", "relay --listen 127.0.0.1:0 --nats "+nats), "/")
	w.jobs[relay] = "samestep-relay"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, _, err := websocket.Dial(ctx, strings.Replace(relay, "http", "ws", 1)+"/matches/match-1/play", &websocket.DialOptions{Subprotocols: []string{"samestep"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	get(t, server+"/readyz")
	all := ""
	for url := range w.jobs {
		all += get(t, url+"/metrics")
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
