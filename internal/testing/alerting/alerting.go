// Package alerting tests alert rules of Prometheus with what programs of this project expose at GET /metrics.
package alerting

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Every is the time between two scrapes.
const Every = 15 * time.Second

// Rules are the text of a file of alert rules.
type Rules string

// groups begins the rules of a file.
const groups = "groups:\n"

// Read returns the rules of files.
func Read(t *testing.T, paths ...string) Rules {
	t.Helper()
	all := groups
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, own, _ := strings.Cut(string(b), groups)
		all += own
	}
	return Rules(all)
}

var (
	alert      = regexp.MustCompile(`(?m)^ +- alert: (\w+)$`)
	expression = regexp.MustCompile(`(?m)^ +expr: (.+)$`)
	selector   = regexp.MustCompile(`\b((?:samestep|process|go)_[a-z_]+)(\{[^}]*\})?(\[)?`)
	matcher    = regexp.MustCompile(`(\w+)(=~|!~|!=|=)"([^"]*)"`)
	sample     = regexp.MustCompile(`^(\w+)(?:\{(.*)\})? (\S+)$`)
)

// Alerts returns the names of the alerts.
func (r Rules) Alerts() (names []string) {
	for _, m := range alert.FindAllStringSubmatch(string(r), -1) {
		names = append(names, m[1])
	}
	return names
}

// A read is a set of series that an expression reads.
type read struct {
	text     string
	name     string
	matchers [][]string // label, operator, value
	window   bool       // as a range, such as for a rate
}

// reads returns what the expressions read.
func (r Rules) reads() (all []read) {
	for _, x := range expression.FindAllStringSubmatch(string(r), -1) {
		for _, m := range selector.FindAllStringSubmatch(x[1], -1) {
			one := read{text: m[1] + m[2], name: m[1], window: m[3] != ""}
			for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
				one.matchers = append(one.matchers, l[1:])
			}
			all = append(all, one)
		}
	}
	return all
}

// has reports whether a series is among those that are read. Its job and instance are those of the scrape.
func (x *read) has(name, labels string) bool {
	if name != x.name {
		return false
	}
	values := map[string]string{}
	for _, l := range matcher.FindAllStringSubmatch(labels, -1) {
		values[l[1]] = l[3]
	}
	for _, m := range x.matchers {
		switch got := values[m[0]]; {
		case m[0] == "job" || m[0] == "instance":
		case m[1] == "=" && got != m[2], m[1] == "!=" && got == m[2],
			strings.HasSuffix(m[1], "~") && regexp.MustCompile("^(?:"+m[2]+")$").MatchString(got) != (m[1] == "=~"):
			return false
		}
	}
	return true
}

// Missing returns what the rules read and a scrape does not have, with its labels. An alert cannot fire for a series that appears
// with what the alert is about, if the rule compares two values of it.
func (r Rules) Missing(scrape string) (missing []string) {
	reads := r.reads()
	if len(reads) == 0 {
		return []string{"any rule"}
	}
	for _, x := range reads {
		if !slices.ContainsFunc(strings.Split(scrape, "\n"), func(line string) bool {
			m := sample.FindStringSubmatch(line)
			return m != nil && x.has(m[1], m[2])
		}) {
			missing = append(missing, x.text)
		}
	}
	return missing
}

// Blind returns the expressions that read the increase of a counter. They miss what was counted before its first scrape.
func (r Rules) Blind() (blind []string) {
	for _, x := range expression.FindAllStringSubmatch(string(r), -1) {
		if strings.Contains(x[1], "increase(") {
			blind = append(blind, x[1])
		}
	}
	return blind
}

// A Target is what is scraped: its job and instance.
type Target struct{ Job, Instance string }

// A Scrape has the text of each target, or "" of one that does not answer.
type Scrape map[Target]string

// A History has the values of the series that some rules read, one for each scrape.
type History struct {
	rules   Rules
	scrapes int
	values  map[string][]string
	seen    map[Target]bool // those that have answered
}

// NewHistory returns the history before the first scrape.
func NewHistory(r Rules) *History {
	return &History{rules: r, values: map[string][]string{}, seen: map[Target]bool{}}
}

// Add appends a scrape. The error names a series that begins after the first scrape of its target, with a value that a rate of the
// rules does not see.
func (h *History) Add(s Scrape) error {
	var errs []error
	reads := h.rules.reads()
	for target, text := range s {
		own := fmt.Sprintf("job=%q,instance=%q", target.Job, target.Instance)
		up := "0"
		if text != "" {
			up = "1"
		}
		h.set("up{"+own+"}", up)
		for line := range strings.Lines(text) {
			m := sample.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			at := slices.IndexFunc(reads, func(x read) bool { return x.name == m[1] })
			if at < 0 {
				continue
			}
			v, err := strconv.ParseFloat(m[3], 64)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			born := h.set(m[1]+"{"+own+","+m[2]+"}", strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+"))
			if born && h.seen[target] && v != 0 && slices.ContainsFunc(reads, func(x read) bool { return x.window && x.has(m[1], m[2]) }) {
				errs = append(errs, fmt.Errorf("alerting: %s{%s}: got %v at its first scrape, want 0: a rate does not see what it counted before", m[1], m[2], v))
			}
		}
		h.seen[target] = h.seen[target] || text != ""
	}
	h.scrapes++
	return errors.Join(errs...)
}

// set appends the value of a series. It reports whether that is its first one.
func (h *History) set(series, value string) (born bool) {
	before := h.values[series]
	born = before == nil
	for len(before) < h.scrapes {
		before = append(before, "_")
	}
	h.values[series] = append(before, value)
	return born
}

// A Point says which alerts fire at a scrape.
type Point struct {
	Scrape int
	Firing []string
}

// Case returns the history as a test of promtool.
func (h *History) Case(name string, points ...Point) string {
	var b strings.Builder
	h.write(&b, name)
	for _, p := range points {
		expect(&b, `max by (alertname) (ALERTS{alertstate="firing"})`, p)
	}
	return b.String()
}

// Quiet returns the history as a test that no alert fires at any scrape.
func (h *History) Quiet(name string) string {
	var b strings.Builder
	h.write(&b, name)
	expect(&b, `max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[1d]))`, Point{Scrape: h.scrapes - 1})
	return b.String()
}

func (h *History) write(b *strings.Builder, name string) {
	fmt.Fprintf(b, "  - name: %s\n    interval: %v\n    input_series:\n", name, Every)
	for _, series := range slices.Sorted(maps.Keys(h.values)) {
		fmt.Fprintf(b, "      - series: '%s'\n        values: '%s'\n", strings.ReplaceAll(series, "'", "''"), strings.Join(h.values[series], " "))
	}
	b.WriteString("    promql_expr_test:\n")
}

func expect(b *strings.Builder, query string, p Point) {
	fmt.Fprintf(b, "      - expr: '%s'\n        eval_time: %v\n        exp_samples:\n", query, time.Duration(p.Scrape)*Every)
	for _, alert := range p.Firing {
		fmt.Fprintf(b, "          - {labels: '{alertname=\"%s\"}', value: 1}\n", alert)
	}
}

// Evaluate lets promtool, a path, evaluate the rules for cases. The error has its words.
func (r Rules) Evaluate(t *testing.T, promtool string, cases ...string) error {
	t.Helper()
	dir := t.TempDir()
	tests := fmt.Sprintf("rule_files: [rules.yaml]\nevaluation_interval: %v\ntests:\n%s", Every, strings.Join(cases, ""))
	for name, content := range map[string]string{"rules.yaml": string(r), "tests.yaml": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(promtool, "test", "rules", filepath.Join(dir, "tests.yaml")).CombinedOutput(); err != nil {
		return fmt.Errorf("%w:\n%s", err, out)
	}
	return nil
}
