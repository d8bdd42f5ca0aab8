package conformance

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// runRecording reads a recording of another engine.
func runRecording(file []byte) Result {
	m, err := matchlog.NewReader(bytes.NewReader(file))
	if errors.Is(err, matchlog.ErrUnsupported) {
		return Result{Verdict: "unsupported"}
	}
	if err != nil {
		return Result{Verdict: "invalid"}
	}
	r := recording{header: &m.Header, gaps: []any{}, orders: []any{}, long: map[string]any{}, sums: map[[2]uint32]string{}}
	for {
		e, err := m.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || !r.take(&e) {
			return Result{Verdict: "invalid"}
		}
	}
	if !r.finish() {
		return Result{Verdict: "invalid"}
	}
	verdict := "ok"
	if m.Torn() {
		verdict = "torn"
	}
	return Result{verdict, r.facts(m.Ticks())}
}

// A recording has what the reader of lines does not check, and the facts.
type recording struct {
	header   *matchlog.Header
	commands []matchlog.Entry // of the present tick
	size     int              // of their payloads
	last     [256]uint32      // sequences of the players
	ran      []uint32         // ticks of commands
	own      []uint32         // ticks of checksums of the machine that recorded
	lowest   []uint32         // ticks of commands, checksums and states
	begins   uint32           // after a gap of tick 0

	gaps, orders []any
	phases       []any
	at           matchlog.Phases // those of the present tick
	atTick       uint32
	long         map[string]any
	sums         map[[2]uint32]string
	counts       [4]int // commands, checksums, states, notes
}

// take takes a line, and reports whether it keeps the rules.
func (r *recording) take(e *matchlog.Entry) bool {
	switch {
	case e.Command():
		if len(r.commands) > 0 && r.commands[0].Tick != e.Tick && !r.finish() {
			return false
		}
		r.commands, r.size = append(r.commands, *e), r.size+len(e.Payload)
		r.ran, r.lowest, r.counts[0] = append(r.ran, e.Tick), append(r.lowest, e.Tick), r.counts[0]+1
		return (len(r.commands) <= record.MaxFrameCommands || e.Tick == 0) && len(r.commands) <= record.MaxLobbyCommands && r.size <= record.MaxFrameBytes
	case e.Checksum:
		sum, at := checksum.FormatHash(e.Hash), [2]uint32{e.Tick, uint32(e.Player)}
		if e.Long != "" {
			r.long[e.Long] = sum
		}
		before, again := r.sums[at]
		if r.sums[at] = sum; again {
			return before == sum
		}
		if by := r.header.By; by == matchlog.Nobody || by == e.Player {
			r.own = append(r.own, e.Tick)
		}
		r.lowest = append(r.lowest, e.Tick)
		r.counts[1]++
	case e.Dump:
		r.lowest = append(r.lowest, e.Tick)
		r.counts[2]++
	case e.Gap:
		r.gaps = append(r.gaps, map[string]any{"from": e.Tick, "to": e.Until})
		if e.Tick == 0 {
			r.begins = e.Until + 1
		}
	case e.Order:
		r.orders = append(r.orders, map[string]any{"tick": e.Tick, "sum": checksum.FormatHash(e.Hash)})
	default:
		r.counts[3]++
		r.phase(e)
	}
	return true
}

// phase takes a note that may have phases and draws of the machine that recorded.
func (r *recording) phase(e *matchlog.Entry) {
	if e.Topic != matchlog.TopicPhases || e.Player != r.header.By {
		return
	}
	if e.Tick != r.atTick {
		r.atTick = e.Tick
		r.at.Reset()
	}
	before := len(r.at.List)
	r.at.Add(e.Text)
	for _, p := range r.at.List[before:] {
		if p.Draws {
			r.phases = append(r.phases, map[string]any{"tick": e.Tick, "stream": p.Name, "count": p.Text()})
		} else {
			r.phases = append(r.phases, map[string]any{"tick": e.Tick, "phase": p.Name, "sum": p.Text()})
		}
	}
}

// finish ends a tick, and reports whether its commands keep the rules.
func (r *recording) finish() bool {
	var players []byte
	for _, e := range r.commands {
		players = append(players, e.Player)
	}
	if !slices.IsSorted(players) {
		r.orders = append(r.orders, map[string]any{"tick": r.commands[0].Tick, "sum": checksum.FormatHash(xxhash.Sum64(players))})
	}
	slices.SortFunc(r.commands, func(a, b matchlog.Entry) int { return int(int64(a.Sequence) - int64(b.Sequence)) })
	for _, e := range r.commands {
		if e.Sequence <= r.last[e.Player] {
			return false
		}
		r.last[e.Player] = e.Sequence
	}
	r.commands, r.size = r.commands[:0], 0
	return true
}

func (r *recording) facts(last uint32) map[string]any {
	slices.Sort(r.own)
	r.own = slices.Compact(r.own)
	first := max(r.begins, matchlog.First(r.own, slices.Min(append(r.lowest, last))))
	if len(r.gaps) == 0 {
		for _, g := range matchlog.Gaps(r.own, r.ran) {
			r.gaps = append(r.gaps, map[string]any{"from": g.From, "to": g.To})
		}
	}
	facts := map[string]any{
		"players": r.header.Players, "tick_micros": r.header.TickMicros, "first": first, "last": last, "gaps": r.gaps, "orders": r.orders,
		"commands": r.counts[0], "checksums": r.counts[1], "states": r.counts[2], "notes": r.counts[3],
	}
	if len(r.phases) > 0 {
		facts["phases"] = r.phases
	}
	if len(r.long) > 0 {
		facts["long"] = r.long
	}
	if s := r.header.Schema; s != nil {
		facts["state"] = checksum.FormatHash(s.Fingerprint())
	}
	return facts
}
