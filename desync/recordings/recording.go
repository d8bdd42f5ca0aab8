// Package recordings compares what machines have recorded of one match of another engine (docs/spec/recordings.md): [Read] reads a
// recording, [Compare] compares two machines and [CompareMachines] any number. Such a match cannot be simulated here, so a [Divergence]
// says when the states begin to differ, in which fields, and whether the commands were the same, but not which machine is right.
package recordings

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// ErrNoRecording means that a replay is not an imported match.
var ErrNoRecording = errors.New("not a match of another engine")

// A Recording is what one machine has recorded of a match of another engine (docs/spec/recordings.md). JSON has what describes it.
type Recording struct {
	File     string           `json:"file"`
	Game     string           `json:"game"`
	Match    string           `json:"match"`            // recordings with the same text are of one match; "" if it is not known
	Player   *lockstep.Player `json:"player,omitempty"` // whose machine recorded; nil for a server or a converter
	Name     string           `json:"name,omitempty"`   // of the player
	Build    string           `json:"build"`
	Platform string           `json:"platform"`
	Sections []string         `json:"sections,omitempty"` // the parts of the state that have checksums of their own
	Type     string           `json:"type,omitempty"`     // of the state, as text
	Ticks    lockstep.Tick    `json:"ticks"`
	First    lockstep.Tick    `json:"first,omitempty"`  // the tick at which it begins, of which it has a checksum, a state or commands
	Gaps     []desync.Span    `json:"gaps,omitempty"`   // ticks between First and Ticks of which it has nothing
	Torn     bool             `json:"torn"`             // it ends early: some commands of its last tick may be missing
	Checks   int              `json:"checks"`           // ticks with a checksum of this machine, or without a Player the agreed one
	States   []lockstep.Tick  `json:"states"`           // ticks of which it has the state
	Phases   int              `json:"phases,omitempty"` // sums of phases of steps
	Draws    int              `json:"draws,omitempty"`  // counts of draws in steps

	reader   *replay.Reader
	schema   *state.Schema
	header   *lockstep.Header
	commands bool          // it has any
	sums     []recordedSum // by tick
	pool     []uint64      // the checksums of sections
	dumps    []recordedState
	lost     []desync.Span // ticks of a replay whose commands fell into its gaps
	orders   []recordedSum // of the players in ticks whose commands were not recorded by player
}

type recordedSum struct {
	hash uint64
	tick lockstep.Tick
	at   int32 // of the first checksum of its sections in the pool, counted from 1; 0 without them
}

// A recordedState is a state of a recording, without its bytes.
type recordedState struct {
	tick lockstep.Tick
	hash uint64 // of its bytes
}

// Read reads an imported match. name is that of its file. The error wraps [ErrNoRecording] if r is another replay.
// A file that is damaged or ends early is a torn recording.
func Read(r *replay.Reader, name string) (*Recording, error) {
	own, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	p := &recordingReader{found: &Recording{File: name, reader: own, States: []lockstep.Tick{}}}
	err = replay.Play(own, nil, p.record)
	f := p.found
	var damage *replay.DamageError
	switch {
	case p.found.header == nil || err != nil && !errors.As(err, &damage):
		return nil, err
	case err != nil || !p.ended:
		f.Torn = true
	}
	slices.SortStableFunc(f.sums, func(a, b recordedSum) int { return int(a.tick) - int(b.tick) })
	slices.SortStableFunc(f.dumps, func(a, b recordedState) int { return int(a.tick) - int(b.tick) })
	f.dumps = slices.CompactFunc(f.dumps, func(a, b recordedState) bool { return a.tick == b.tick })
	f.Checks = len(f.sums)
	for _, d := range f.dumps {
		f.States = append(f.States, d.tick)
	}
	p.gaps()
	f.commands = len(p.ran) > 0
	return f, nil
}

// gaps finds the ticks of which the recording has nothing: those of its lines, and where checksums are missing.
func (p *recordingReader) gaps() {
	f := p.found
	sums := make([]uint32, len(f.sums))
	for i := range f.sums {
		sums[i] = uint32(f.sums[i].tick)
	}
	if f.First == 0 && len(sums) > 0 {
		lowest := sums[0]
		if len(p.ran) > 0 {
			lowest = min(lowest, p.ran[0])
		}
		if len(f.States) > 0 {
			lowest = min(lowest, uint32(f.States[0]))
		}
		f.First = lockstep.Tick(matchlog.First(sums, lowest))
	}
	stated := slices.Clone(f.Gaps)
	for _, g := range matchlog.Gaps(sums, p.ran) {
		f.Gaps = append(f.Gaps, desync.Span{From: lockstep.Tick(g.From), To: lockstep.Tick(g.To)})
	}
	slices.SortFunc(f.Gaps, func(a, b desync.Span) int { return cmp.Compare(a.From, b.From) })
	kept := f.Gaps[:0]
	for _, g := range f.Gaps {
		switch last := len(kept) - 1; {
		case g.To < f.First:
		case last >= 0 && g.From <= kept[last].To+1:
			kept[last].To = max(kept[last].To, g.To)
		default:
			kept = append(kept, g)
		}
	}
	f.Gaps = kept
	for _, g := range kept {
		from := g.From // the machine may be away since its last checksum, unless the file says when it went
		_, there := slices.BinarySearch(p.ran, uint32(from)-1)
		if there || slices.ContainsFunc(stated, func(s desync.Span) bool { return s.From == from }) {
			from++
		}
		f.lost = append(f.lost, desync.Span{From: from, To: g.To + 1})
	}
}

// ran reports whether the recording has the commands of a tick of a replay, if there were any: those that lead from the state of
// the tick before to that of this tick.
func (r *Recording) ran(t lockstep.Tick) bool {
	if t <= r.First || t > r.Ticks || r.Torn && t == r.Ticks {
		return false
	}
	i, _ := slices.BinarySearchFunc(r.lost, t, func(l desync.Span, t lockstep.Tick) int { return cmp.Compare(l.To, t) })
	return i == len(r.lost) || t < r.lost[i].From
}

// unheard returns the first ticks, of those after one up to another, whose commands the recording does not have, and whether there are any.
func (r *Recording) unheard(after, to lockstep.Tick) (desync.Span, bool) {
	for _, l := range r.lost {
		if from, last := max(l.From, after+1), min(l.To, to); from <= last {
			return desync.Span{From: from, To: last}, true
		}
	}
	return desync.Span{From: to, To: to}, r.Torn && to >= r.Ticks
}

// MatchOf reports whether a replay is an imported match with more than commands, checksums and notes, and returns
// [Recording.Match] of it. It reads only the beginning.
func MatchOf(r *replay.Reader) (match string, ok bool) {
	own, err := r.Reopen()
	if err != nil {
		return "", false
	}
	var lines matchlog.Lines
	for range 8 { // the line of the header follows the first keyframe, and maybe a note
		rec, err := own.Next()
		if err != nil || rec.Kind == record.KindHeader && rec.Header.Engine != replay.ForeignEngine {
			return "", false
		}
		if rec.Kind == record.KindForeign {
			if _, err := lines.Next(rec.Line); err == nil {
				match = lines.Header.Match
			}
			return match, true
		}
	}
	return "", false
}

// SidesOf divides recordings of two machines: the first and the second one are of A and B, and each further one is of the
// side that has the same player, build and platform. If both sides have the same, the recordings alternate.
func SidesOf(all []*Recording) (a, b []*Recording, err error) {
	if len(all) < 2 {
		return nil, nil, fmt.Errorf("got %d recordings, want at least two", len(all))
	}
	a, b = all[:1:1], all[1:2:2]
	for i, r := range all[2:] {
		isA, isB := r.sameMachine(a[0]), r.sameMachine(b[0])
		switch {
		case !isA && !isB:
			return nil, nil, fmt.Errorf("%s has another player, build or platform than %s and %s", r.File, a[0].File, b[0].File)
		case isA && (!isB || i%2 == 0):
			a = append(a, r)
		default:
			b = append(b, r)
		}
	}
	return a, b, nil
}

func (r *Recording) sameMachine(o *Recording) bool {
	samePlayer := (r.Player == nil) == (o.Player == nil) && (r.Player == nil || *r.Player == *o.Player)
	return samePlayer && r.Build == o.Build && r.Platform == o.Platform
}

type recordingReader struct {
	found   *Recording
	lines   matchlog.Lines
	pending []matchlog.Entry // checksums of the present tick, with those of the sections
	silent  bool             // the player reports no checksums
	ran     []uint32         // ticks of lines with commands
	ended   bool
	phases  matchlog.Phases // of a note
}

func (p *recordingReader) record(rec *record.Record) error {
	f := p.found
	if rec.Ticks() > 0 {
		f.Ticks = rec.Tick
	}
	switch rec.Kind {
	case record.KindKeyframe:
		if f.Ticks == 0 {
			f.First, f.Ticks = rec.Tick, rec.Tick
		}
	case record.KindFrame:
		p.ran = append(p.ran, uint32(rec.Tick)-1)
	case record.KindHeader:
		if rec.Header.Engine != replay.ForeignEngine {
			return fmt.Errorf("desync: %w: its engine is %s", ErrNoRecording, rec.Header.Engine)
		}
		f.header, f.Game, f.Build, f.Platform = rec.Header, rec.Header.Game, rec.Header.Build, rec.Header.Platform
	case record.KindForeign:
		return p.foreign(rec)
	case record.KindNote, record.KindEvent:
		switch own := f.Player != nil && rec.Player == *f.Player; {
		case own && rec.Event == record.EventReports:
			p.silent = rec.Text != "yes"
		case own && rec.Topic == record.TopicName:
			f.Name = rec.Text
		case f.ofMachine(rec):
			p.phase(rec.Text)
		}
	case record.KindChecksum:
		if !p.silent {
			return p.sum(rec)
		}
	case record.KindMismatch:
		if f.Player != nil && rec.Player == *f.Player {
			return p.sum(rec)
		}
	case record.KindEnd:
		p.ended, f.Torn = true, rec.Text == replay.ForeignTorn
	}
	return nil
}

// ofMachine reports whether a note is one with the phases and draws of the machine that recorded.
func (r *Recording) ofMachine(rec *record.Record) bool {
	by := lockstep.System
	if r.Player != nil {
		by = *r.Player
	}
	return rec.Kind == record.KindNote && rec.Topic == matchlog.TopicPhases && rec.Player == by
}

// phase counts the phases and draws of a note.
func (p *recordingReader) phase(text string) {
	p.phases.Reset()
	p.phases.Add(text)
	for _, one := range p.phases.List {
		if one.Draws {
			p.found.Draws++
		} else {
			p.found.Phases++
		}
	}
}

func (p *recordingReader) foreign(rec *record.Record) error {
	f := p.found
	e, err := p.lines.Next(rec.Line)
	switch {
	case err != nil:
		return matchlog.MalformedAfter(uint32(rec.Tick), err)
	case e == nil: // the header
		h := p.lines.Header
		f.Match, f.Sections, f.Type, f.schema = h.Match, h.Sections, h.Type, h.Schema
		if h.By != matchlog.Nobody {
			by := lockstep.Player(h.By)
			f.Player = &by
		}
	case e.Gap:
		f.Gaps = append(f.Gaps, desync.Span{From: lockstep.Tick(e.Tick), To: lockstep.Tick(e.Until)})
	case e.Order:
		f.orders = append(f.orders, recordedSum{hash: e.Hash, tick: lockstep.Tick(e.Tick)})
	case f.Player != nil && e.Player != uint8(*f.Player):
	case e.Dump:
		if !e.More {
			//samestep:allow unseen xxHash64 is the same function in assembly and in Go
			f.dumps = append(f.dumps, recordedState{lockstep.Tick(e.Tick), xxhash.Sum64(e.State)})
		}
	case e.Sections != nil:
		if len(p.pending) > 0 && p.pending[0].Tick != e.Tick || len(p.pending) == int(lockstep.MaxPlayers) {
			p.pending = p.pending[:0]
		}
		p.pending = append(p.pending, *e)
	}
	return nil
}

// sum takes a checksum of this machine. A mismatching one replaces the agreed one of its tick.
func (p *recordingReader) sum(rec *record.Record) error {
	f := p.found
	s := recordedSum{hash: rec.Hash, tick: rec.Tick}
	for i := range p.pending {
		if e := &p.pending[i]; e.Tick == uint32(rec.Tick) && e.Hash == rec.Hash {
			s.at = int32(len(f.pool)) + 1
			f.pool = append(f.pool, e.Sections...)
			break
		}
	}
	if last := len(f.sums) - 1; last >= 0 && f.sums[last].tick == s.tick {
		f.sums[last] = s
		return nil
	}
	if len(f.sums) == matchlog.MaxEntries || len(f.pool) > matchlog.MaxSums {
		return fmt.Errorf("desync: %w: more than %d checksums, or %d of sections", replay.ErrLimit, matchlog.MaxEntries, matchlog.MaxSums)
	}
	f.sums = append(f.sums, s)
	return nil
}

func (r *Recording) state(t lockstep.Tick) ([]byte, error) {
	own, err := r.reader.Reopen()
	if err != nil {
		return nil, err
	}
	var found []byte
	var lines matchlog.Lines
	err = replay.Play(own, nil, func(rec *record.Record) error {
		if rec.Kind != record.KindForeign {
			return nil
		}
		e, err := lines.Next(rec.Line)
		if err != nil {
			return matchlog.MalformedAfter(uint32(rec.Tick), err)
		}
		if e != nil && e.Dump && !e.More && e.Tick == uint32(t) && (r.Player == nil || e.Player == uint8(*r.Player)) {
			found = e.State
			return io.EOF
		}
		return nil
	})
	if found != nil {
		return found, nil
	}
	if err == nil || errors.As(err, new(*replay.DamageError)) {
		err = fmt.Errorf("desync: %s no longer has a state of tick %d", r.File, t)
	}
	return nil, err
}

// String describes the recording in one line.
func (r *Recording) String() string {
	who := ""
	if r.Player != nil {
		if who = fmt.Sprintf("player %d, ", *r.Player); r.Name != "" {
			who = fmt.Sprintf("player %d (%s), ", *r.Player, r.Name)
		}
	}
	text := fmt.Sprintf("%sbuild %q, %s: %s", who, r.Build, r.Platform, words.Count(r.Ticks-r.First, "tick"))
	if r.First > 0 {
		text += fmt.Sprintf(" from tick %d on", r.First)
	}
	for i, g := range r.Gaps {
		if i == 3 {
			text += fmt.Sprintf(", and %s", words.Count(len(r.Gaps)-i, "more gap"))
			break
		}
		text += ", nothing of " + ticksText(g)
	}
	text += ", " + words.Count(r.Checks, "checksum")
	if n := len(r.States); n > 0 {
		text += ", " + words.Count(n, "state")
	}
	if r.Torn {
		text += ", torn"
	}
	return text
}

// span returns the ticks of the recording, as its lines number them.
func (r *Recording) span() desync.Span {
	return desync.Span{From: r.First, To: max(r.First+1, r.Ticks) - 1}
}

// ticksText returns "tick 77" or "ticks 50 to 99".
func ticksText(s desync.Span) string {
	if s.Exact() {
		return fmt.Sprintf("tick %d", s.From)
	}
	return fmt.Sprintf("ticks %d to %d", s.From, s.To)
}

// extend adds a tick to ascending spans, if it is one of them.
func extend(spans []desync.Span, t lockstep.Tick, add bool) []desync.Span {
	if last := len(spans) - 1; add && last >= 0 && spans[last].To+1 == t {
		spans[last].To = t
	} else if add {
		spans = append(spans, desync.Span{From: t, To: t})
	}
	return spans
}

// dumpText returns spans as SAMESTEP_DUMP has them: "77,78" and "60-80".
func dumpText(spans []desync.Span) string { return strings.Join(spanParts(spans, "-"), ",") }

// spanParts returns the ticks of spans, of which those of three and more have a word between the first and the last.
func spanParts(spans []desync.Span, to string) (parts []string) {
	for _, s := range spans {
		parts = append(parts, fmt.Sprint(s.From))
		switch s.To - s.From {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprint(s.To))
		default:
			parts[len(parts)-1] += to + fmt.Sprint(s.To)
		}
	}
	return parts
}
