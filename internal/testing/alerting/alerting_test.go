package alerting_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/alerting"
)

const rules = alerting.Rules(`
      - alert: One
        expr: rate(samestep_turned_total{reason="full"}[5m]) > 0 and samestep_held{reason!~"a pause|a wait"} > 0
      - alert: Two
        expr: samestep_ready == 0
`)

func TestMissing(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		scrape string
		want   []string
	}{
		{"samestep_turned_total{reason=\"full\"} 0\nsamestep_held{reason=\"a disk, full\"} 0\nsamestep_ready 1\n", nil},
		{"samestep_turned_total{reason=\"late\"} 0\nsamestep_held{reason=\"a wait\"} 0\nsamestep_ready_too 1\n", []string{`samestep_turned_total{reason="full"}`, `samestep_held{reason!~"a pause|a wait"}`, "samestep_ready"}},
	} {
		if got := rules.Missing(x.scrape); !slices.Equal(got, x.want) {
			t.Errorf("%s: got %q, want %q", x.scrape, got, x.want)
		}
	}
	if got := alerting.Rules("").Missing(""); len(got) == 0 {
		t.Error("rules that read nothing lack nothing")
	}
	const blind = "increase(samestep_panics_total[10m]) > 0"
	if got := rules.Blind(); len(got) > 0 {
		t.Errorf("got %q, which read a rate or a gauge", got)
	}
	if got := alerting.Rules("        expr: " + blind + "\n").Blind(); !slices.Equal(got, []string{blind}) {
		t.Errorf("got %q, want %q", got, blind)
	}
	if got := rules.Alerts(); !slices.Equal(got, []string{"One", "Two"}) {
		t.Errorf("got the alerts %q", got)
	}
}

// A counter that begins at 1 after the first scrape is a fault. One that begins at 0, or that no rate reads, is none.
func TestBegins(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		scrapes []string
		want    string
	}{
		{[]string{"a 1", `samestep_turned_total{reason="full"} 0`, `samestep_turned_total{reason="full"} 1`}, ""},
		{[]string{"a 1", `samestep_turned_total{reason="late"} 1`}, ""},
		{[]string{"a 1", `samestep_held{reason="a disk"} 1`}, ""},
		{[]string{"a 1", `samestep_turned_total{reason="full"} 1`}, "samestep_turned_total"},
	} {
		h, last := alerting.NewHistory(rules), error(nil)
		for _, text := range x.scrapes {
			last = h.Add(alerting.Scrape{{Job: "a", Instance: "b"}: text + "\n"})
		}
		if x.want == "" && last != nil || x.want != "" && (last == nil || !strings.Contains(last.Error(), x.want)) {
			t.Errorf("%q: got %v, want %q", x.scrapes, last, x.want)
		}
	}
}
