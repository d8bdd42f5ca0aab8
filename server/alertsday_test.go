//go:build linux

package server_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/alerting"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// scrapes scrapes n times, and calls before, if not nil, before each.
func (w *watched) scrapes(t *testing.T, n int, before func()) {
	t.Helper()
	for range n {
		if before != nil {
			before()
		}
		w.scrape(t)
	}
}

// stall keeps the match from its work for a time.
func (w *watched) stall(t *testing.T, long time.Duration) {
	t.Helper()
	w.do(t, func(*host.Host) { time.Sleep(long) })
}

// What happens on an ordinary day fires no alert: an admin's pause, a busy machine, an archive that is away for a minute, a certificate
// that is replaced before its key, a drain, and an upgrade after which a player does not come back. Each rule that ignores one of them notices it without that.
func TestOrdinaryDayFiresNoAlert(t *testing.T) {
	t.Parallel()
	promtool := promtool(t)
	var w *watched
	virtually(t, func(t *testing.T) {
		w = newWatched(t)
		w.setup.newFile, w.setup.settings = nil, nil // a log on a disk that is well, of a match with its usual ticks
		w.setup.options.AwaitPlayers = 4 * time.Minute
		w.begin(t)
		<-w.join(t, ada, wander).Ready()
		w.scrapes(t, 1, nil)
		w.stall(t, 1200*time.Millisecond)
		w.scrapes(t, wellScrapes, nil)
		for _, action := range []string{"pause", "resume"} {
			if status, text := w.ask(t, "POST", "/matches/duel/"+action, ops, ""); status != 200 {
				t.Fatal(status, text)
			}
			w.scrapes(t, 10, nil)
		}
		w.stall(t, 1200*time.Millisecond)
		w.scrapes(t, 20, func() { w.stall(t, 150*time.Millisecond) })
		if got := w.metric(t, "samestep_skipped_ticks_total"); got < 1 {
			t.Error("the machine was not busy: no tick was skipped")
		}
		w.away.Store(true)
		w.archive(t)
		w.scrapes(t, 4, nil)
		if w.kept.Waiting() == 0 {
			t.Error("the archive was not away: no file waits")
		}
		w.away.Store(false)
		w.failed.Store(true) // a certificate is replaced before its key
		w.scrapes(t, 2, nil)
		w.failed.Store(false)
		drained := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		go func() { drained <- w.server.Drain(ctx) }()
		w.scrapes(t, 13, nil)
		if err := <-drained; err == nil {
			t.Error("the drain had nothing to wait for")
		}
		w.down, w.setup.interrupted = true, w.match.ReplayPath()
		w.stop()
		w.scrapes(t, 2, nil)
		w.down = false
		w.begin(t)
		w.scrapes(t, 12, nil)
		if got := w.metric(t, `samestep_held_matches{reason="the players have not come back yet"}`); got != 1 {
			t.Error("the match does not wait for its player")
		}
		w.stop()
	})
	quiet := w.history.Quiet("an ordinary day")
	if err := rules(t).Evaluate(t, promtool, quiet); err != nil {
		t.Error(err)
	}
	if testenv.Small(t) {
		return
	}
	for _, x := range []struct{ name, rule, without string }{
		{"a pause", `\{reason!~"[^"]*"\}`, ""},
		{"a drain", ` unless on \(job, instance\) samestep_draining == 1`, ""},
		{"a stall", `rate\(samestep_skipped_ticks_total\[5m\]\) > .*`, "increase(samestep_skipped_ticks_total[5m]) > 0"},
		{"a key", `(samestep_reload_failed == 1\n) +for: 1m\n`, "$1"},
	} {
		without(t, promtool, quiet, x.name, x.rule, x.without)
	}
}

// without checks that rules fire an alert for what none should if an expression in them is another.
func without(t *testing.T, promtool, quiet, name, rule, other string) {
	t.Helper()
	altered := alerting.Rules(regexp.MustCompile(rule).ReplaceAllString(string(rules(t)), other))
	if altered == rules(t) || altered.Evaluate(t, promtool, quiet) == nil {
		t.Errorf("the control: rules that do not ignore %s fire no alert", name)
	}
}

// Half a minute of a slow disk and of late ticks, on a server that does little, fires no alert.
func TestOneBadMomentFiresNoAlert(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	promtool := promtool(t)
	var w *watched
	virtually(t, func(t *testing.T) {
		w = newWatched(t)
		w.begin(t)
		w.scrapes(t, wellScrapes, nil)
		w.disk.set(func() { w.disk.slow = 2 * time.Second })
		for range 60 {
			w.stall(t, 400*time.Millisecond)
			time.Sleep(100 * time.Millisecond)
		}
		w.disk.set(func() { w.disk.slow = 0 })
		w.scrapes(t, 40, nil)
	})
	quiet := w.history.Quiet("a bad moment")
	if err := rules(t).Evaluate(t, promtool, quiet); err != nil {
		t.Error(err)
	}
	without(t, promtool, quiet, "late ticks", `(lateness_seconds_bucket)\[2m\](.*\n +for: )3m`, "$1[5m]${2}2m")
	without(t, promtool, quiet, "a slow disk", `(disk_seconds_bucket)\[2m\](.*\n +for: )3m`, "$1[5m]${2}2m")
}
