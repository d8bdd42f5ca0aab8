//go:build !js

package replays

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A fileSource watches the file of a match, which another goroutine reads.
type fileSource struct {
	live *replay.LiveReader
	stop context.CancelFunc
	met  chan struct{} // closed when the reader waits for the file to grow
	done chan struct{} // closed when the reader ends

	mu       sync.Mutex
	header   *lockstep.Header
	tick     lockstep.Tick
	totals   watchTotals
	seats    []watchSeat
	differed *watchSeat    // whose state differed first
	second   lockstep.Tick // of the match, for the last value of each rate
	ended    bool
	reason   string
	err      error

	lookedAt   time.Time
	lookedTick lockstep.Tick
	percent    float64 // of the tick rate, since the last look
	paced      bool    // there was a last look
}

type watchTotals struct {
	Commands   int `json:"commands"`
	Checks     int `json:"checks"`
	Mismatches int `json:"mismatches"`
	Keyframes  int `json:"keyframes"`
	SizeBytes  int `json:"size_bytes"` // of records
}

type watchSeat struct {
	Player     lockstep.Player `json:"player"`
	Name       string          `json:"name"`
	Commands   int             `json:"commands"`
	Mismatches int             `json:"mismatches"`
	last       lockstep.Tick   // with a command
	differed   lockstep.Tick   // the first mismatch; 0 for none
	rate       trend           // commands by second
}

func newFileSource(ctx context.Context, name string, o replay.LiveOptions) (*fileSource, error) {
	s := &fileSource{met: make(chan struct{}), done: make(chan struct{})}
	o.Waiting = sync.OnceFunc(func() { close(s.met) })
	var err error
	if s.live, err = replay.OpenLive(name, o); err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(ctx)
	go s.read(ctx)
	return s, nil
}

func (s *fileSource) Close() {
	s.stop()
	<-s.done
	s.live.Close()
}

// read takes each new record of the file.
func (s *fileSource) read(ctx context.Context) {
	defer close(s.done)
	for rec, err := range s.live.All(ctx) {
		s.mu.Lock()
		if err == nil {
			s.totals.SizeBytes += len(s.live.Record())
			s.take(rec)
		} else if !errors.Is(err, context.Canceled) {
			s.err = adviseOperator(err)
		}
		s.mu.Unlock()
	}
}

func (s *fileSource) take(r *record.Record) {
	if r.Ticks() > 0 {
		s.reach(r.Tick)
	}
	for i := range r.Frame.Commands {
		if p := r.Frame.Commands[i].Player; int(p) < len(s.seats) {
			s.totals.Commands++
			s.seats[p].Commands++
			s.seats[p].last = r.Tick
			s.seats[p].rate[len(s.seats[p].rate)-1]++
		}
	}
	switch r.Kind {
	case record.KindHeader:
		s.header = r.Header
		s.seats = make([]watchSeat, r.Header.Settings.Players)
		for p := range s.seats {
			s.seats[p].Player = lockstep.Player(p)
		}
	case record.KindKeyframe:
		s.totals.Keyframes++
	case record.KindChecksum:
		s.totals.Checks++
	case record.KindMismatch:
		s.totals.Mismatches++
		if int(r.Player) < len(s.seats) {
			seat := &s.seats[r.Player]
			if seat.Mismatches++; seat.Mismatches == 1 {
				seat.differed = r.Tick
			}
			if s.differed == nil {
				s.differed = seat
			}
		}
	case record.KindNote:
		if r.Topic == record.TopicName && int(r.Player) < len(s.seats) {
			s.seats[r.Player].Name = r.Text
		}
	case record.KindEnd:
		s.ended, s.reason = true, r.Text
	}
}

// reach advances to a tick, and starts the seconds up to it.
func (s *fileSource) reach(t lockstep.Tick) {
	second := t/lockstep.Tick(s.header.Settings.TickRate()) + 1
	for range min(second-s.second, watchHistory) {
		for p := range s.seats {
			s.seats[p].rate.push(0)
		}
	}
	s.tick, s.second = t, second
}

// Look reports the records so far.
func (s *fileSource) Look(ctx context.Context) (*watchReport, error) {
	select {
	case <-s.met:
	case <-s.done:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, &console.FileError{Name: s.live.Path(), Err: s.err}
	}
	if s.header == nil {
		return &watchReport{title: console.Shown(s.live.Path()), line: "the file is still empty", values: struct{}{}}, nil
	}
	now := time.Now()
	if since := now.Sub(s.lookedAt).Seconds(); !s.lookedAt.IsZero() && since > 0 {
		s.paced = true
		s.percent = float64(s.header.Settings.Micros(int64(s.tick-s.lookedTick))) / 1e6 / since * 100
	}
	s.lookedAt, s.lookedTick = now, s.tick
	return s.report(), nil
}

func (s *fileSource) report() *watchReport {
	h, t := s.header, &s.totals
	at := float64(h.Settings.Micros(int64(s.tick))) / 1e6
	state := "not over"
	if s.paced {
		state = fmt.Sprintf("at %.0f %% of real time", s.percent)
	}
	if s.ended {
		state = "over: " + console.Shown(s.reason)
	}
	differed := fmt.Sprintf("%d of players differed", t.Mismatches)
	if d := s.differed; d != nil {
		differed += fmt.Sprintf(", the first at tick %d, of player %d %s", d.differed, d.Player, console.Shown(d.Name))
	}
	r := &watchReport{
		title: fmt.Sprintf("%s  match %s", console.Shown(h.Game), h.Match.String()[:8]),
		facts: []watchFact{
			{"tick", fmt.Sprintf("%s, %s, %s", humanize.Comma(int64(s.tick)), console.MatchTime(at), state), false},
			{"commands", fmt.Sprintf("%s, %.1f a second", humanize.Comma(int64(t.Commands)), float64(t.Commands)/max(at, 1)), false},
			{"checksums", fmt.Sprintf("%s agreed, %s", humanize.Comma(int64(t.Checks)), differed), t.Mismatches > 0},
			{"records", fmt.Sprintf("%s in %s, %s", console.Size(t.SizeBytes), console.Count(t.Keyframes, "keyframe"), console.Shown(h.Platform)), false},
		},
		table: watchTable{columns: []string{"player", "name", "commands", "last at", "differed", "commands a second"}},
		over:  s.ended,
		values: struct {
			Tick    lockstep.Tick `json:"tick"`
			Seconds float64       `json:"seconds"`
			Percent float64       `json:"percent"` // of real time
			*watchTotals
			Players []watchSeat `json:"players"`
			Ended   bool        `json:"ended"`
			Reason  string      `json:"reason,omitempty"`
		}{s.tick, at, s.percent, t, s.seats, s.ended, s.reason},
	}
	lately := 0.0
	for i := range s.seats {
		p := &s.seats[i]
		if n := len(p.rate); n > 1 {
			lately += p.rate[n-2] // the last full second
		}
		last := "-"
		if p.Commands > 0 {
			last = fmt.Sprint(p.last)
		}
		mismatches := fmt.Sprint(p.Mismatches)
		if p.differed > 0 {
			mismatches += fmt.Sprintf(" since %d", p.differed)
		}
		r.table.rows = append(r.table.rows, []string{
			fmt.Sprint(p.Player), console.Shown(p.Name), humanize.Comma(int64(p.Commands)), last, mismatches, s.marked(p),
		})
	}
	r.line = fmt.Sprintf("tick %d  %s  %s (%.0f/s)  %s, %d differ  %s", s.tick, console.MatchTime(at), console.Count(t.Commands, "command"), lately, console.Count(t.Checks, "check"), t.Mismatches, state)
	return r
}

// marked returns the sparkline of a seat, with a mark in the second of its first mismatch.
func (s *fileSource) marked(p *watchSeat) string {
	spark := []rune(p.rate.spark())
	if at := len(spark) - 1 - int(s.second-(p.differed/lockstep.Tick(s.header.Settings.TickRate())+1)); p.differed > 0 && at >= 0 {
		spark[at] = '!'
	}
	return string(spark)
}
