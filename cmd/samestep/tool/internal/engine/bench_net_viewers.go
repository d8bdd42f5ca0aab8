//go:build !js

package engine

import (
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
)

// A viewersResult compares how late the frames of the first match are with and without viewers.
type viewersResult struct {
	Viewers        int        `json:"viewers"`
	Turns          int        `json:"turns"` // with viewers, and as many without
	ViewsPerSecond float64    `json:"views_per_second"`
	BytesPerView   float64    `json:"bytes_per_view"`
	With           turnResult `json:"with"`
	Without        turnResult `json:"without"`
}

// A turnResult is what was measured in all turns of one kind.
type turnResult struct {
	LatenessP50MS float64 `json:"lateness_p50_ms"`
	LatenessP95MS float64 `json:"lateness_p95_ms"`
	LatenessP99MS float64 `json:"lateness_p99_ms"`
	ServerCPU     float64 `json:"server_cpu_percent"` // of one core; 0 if it is unknown
}

func (r *viewersResult) print(line func(name, format string, args ...any)) {
	if r == nil {
		return
	}
	line("viewers", "%s in %d turns, each with %.1f views a second of %s", console.Count(r.Viewers, "viewer"), r.Turns, r.ViewsPerSecond, console.Size(int64(r.BytesPerView)))
	for _, t := range []struct {
		name string
		*turnResult
	}{{"with them", &r.With}, {"without", &r.Without}} {
		line(t.name, "frames late by %.1f ms (median), %.1f ms (95 %%), %.1f ms (99 %%); server %.1f %% of a core", t.LatenessP50MS, t.LatenessP95MS, t.LatenessP99MS, t.ServerCPU)
	}
}

// turnsOfViewers is how often viewers come and go.
const turnsOfViewers = 5

// A turn is a time of the measurement, with viewers or without.
type turn struct {
	from, to time.Time
	viewers  bool
	cpu      time.Duration
}

// turns is the whole measurement, and what the viewers were sent.
type turns struct {
	list  []turn
	views int
	bytes int
}

// wait makes a turn.
func (x *turns) wait(s *serverProcess, d time.Duration, viewers bool) {
	t := turn{from: time.Now(), viewers: viewers}
	cpu := s.cpu()
	time.Sleep(d)
	t.to, t.cpu = time.Now(), s.cpu()-cpu
	x.list = append(x.list, t)
}

// take takes what a viewer was sent, and ends its measurement.
func (x *turns) take(g *loadGuest) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.measuring = false
	x.views += g.views
	x.bytes += g.bytes
	return g.err
}

// result returns nil without viewers. The players are those of the first match, and their measurements are over.
func (x *turns) result(viewers, rate int, players []*loadGuest) *viewersResult {
	if viewers == 0 {
		return nil
	}
	r := &viewersResult{Viewers: viewers, Turns: turnsOfViewers}
	with := x.sum(rate, players, true, &r.With)
	x.sum(rate, players, false, &r.Without)
	r.ViewsPerSecond = float64(x.views) / with.Seconds() / float64(viewers)
	r.BytesPerView = float64(x.bytes) / float64(max(x.views, 1))
	return r
}

// sum sums up the turns of one kind, and returns how long they took.
func (x *turns) sum(rate int, players []*loadGuest, viewers bool, r *turnResult) (took time.Duration) {
	var late []time.Duration
	var cpu time.Duration
	for _, t := range x.list {
		if t.viewers != viewers {
			continue
		}
		took, cpu = took+t.to.Sub(t.from), cpu+t.cpu
		for _, g := range players {
			frames, _ := dueBetween(t.from, t.to, rate).late(g.arrivals)
			late = append(late, frames...)
		}
	}
	if r.LatenessP50MS, r.LatenessP99MS = percentiles(late); len(late) > 0 {
		r.LatenessP95MS = console.Milliseconds(late[len(late)*95/100]) // they are in order by now
	}
	r.ServerCPU = 100 * cpu.Seconds() / took.Seconds()
	return took
}
