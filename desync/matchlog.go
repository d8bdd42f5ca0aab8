package desync

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Participant is a player of the match, according to the log and the bundle.
type Participant struct {
	Player     lockstep.Player `json:"player"`
	Name       string          `json:"name"`
	Build      string          `json:"build,omitempty"`
	Platform   string          `json:"platform,omitempty"`
	Sources    string          `json:"sources,omitempty"` // of its program, see [record.ParseSources]
	Joined     lockstep.Tick   `json:"joined"`            // the tick of the latest join before the desync; 0 if none is known
	Lost       int             `json:"lost"`              // lost connections before the desync
	Commands   int             `json:"commands"`          // in the whole log
	Mismatches int             `json:"mismatches"`        // checks in the whole log at which it differed
	Differs    bool            `json:"differs"`           // at the tick of the desync
	Cells      []int           `json:"cells"`             // by Column: checks at which it differed
}

// A Column is a part of the time line: ticks From to To, and the number of agreed checks in them.
type Column struct {
	Span
	Checks int `json:"checks"`
}

// A matchLog is the content of a replay, without a simulation.
type matchLog struct {
	header *lockstep.Header
	schema *state.Schema
	file   []byte
	last   lockstep.Tick // of the log
	until  lockstep.Tick // of the desync
	damage error         // why the log ends; nil if it is only incomplete
	first  lockstep.Tick // of the first keyframe
	seen   bool          // there is one
	width  lockstep.Tick // of a column
	rows   map[lockstep.Player]*Participant
	checks []int // by column
	sums   checkLog
	keys   []*lockstep.DesyncError // keyframes after the first one up to the desync, at most maxEvidence; Got is unknown
}

// readLog reads the whole replay of a desync at tick until.
func readLog(file []byte, until lockstep.Tick) (*matchLog, error) {
	l := &matchLog{file: file, until: until, rows: make(map[lockstep.Player]*Participant)}
	r, err := l.reader()
	if err != nil {
		return nil, err
	}
	err = replay.Play(r, nil, l.record)
	l.sums.sort()
	if l.header == nil {
		return nil, fmt.Errorf("desync: the replay has no header: %w", err)
	}
	if l.schema == nil {
		return nil, err // the error of the schema
	}
	var damage *replay.DamageError
	if err != nil && !errors.As(err, &damage) {
		return nil, err
	}
	if err != nil && !(errors.Is(err, io.ErrUnexpectedEOF) && l.last >= until) {
		l.damage = err // a bundle's replay need not be complete, but must reach the desync
	}
	return l, nil
}

func (l *matchLog) reader() (*replay.Reader, error) {
	return replay.NewReader(bytes.NewReader(l.file), int64(len(l.file)))
}

func (l *matchLog) record(r *record.Record) error {
	if r.Tick <= l.until {
		l.sums.record(r) // after maxEvidence checksums, the manifest decides
	}
	if r.Ticks() > 0 {
		l.last = r.Tick
	}
	for i := range r.Frame.Commands {
		l.command(&r.Frame.Commands[i])
	}
	switch r.Kind {
	case record.KindHeader:
		l.header, l.width = r.Header, lockstep.Tick(r.Header.Settings.CheckEvery)
		var err error
		if l.schema, err = state.ParseSchema(r.Header.StateSchema); err != nil {
			return fmt.Errorf("desync: the state's schema: %w", err)
		}
	case record.KindKeyframe:
		if !l.seen {
			l.first, l.last, l.seen = r.Tick, r.Tick, true
		} else if r.Tick <= l.until && len(l.keys) < maxEvidence {
			l.keys = append(l.keys, &lockstep.DesyncError{Tick: r.Tick, Want: r.Keyframe.Hash, Keyframe: true})
		}
	case record.KindChecksum:
		at := l.column(r.Tick)
		l.checks = raise(l.checks, at)
	case record.KindMismatch:
		p := l.row(r.Player)
		p.Mismatches++
		p.Differs = p.Differs || r.Tick == l.until
		at := l.column(r.Tick)
		p.Cells = raise(p.Cells, at)
	case record.KindNote:
		if r.Topic == record.TopicName {
			l.row(r.Player).Name = r.Text
		}
	}
	return nil
}

func (l *matchLog) command(c *lockstep.Command) {
	if c.Player != lockstep.System {
		l.row(c.Player).Commands++
		return
	}
	v, err := record.SystemValue(c)
	if err != nil || c.Tick > l.until {
		return
	}
	switch v := v.(type) {
	case *lockstep.Joined:
		l.row(v.Player).Joined = c.Tick
	case *lockstep.Lost:
		l.row(v.Player).Lost++
	}
}

func (l *matchLog) row(p lockstep.Player) *Participant {
	row := l.rows[p]
	if row == nil {
		row = &Participant{Player: p}
		l.rows[p] = row
	}
	return row
}

// column returns the column of a tick. If the log is too long for its columns, it doubles their width.
func (l *matchLog) column(t lockstep.Tick) int {
	from := max(t, 1) - 1
	for from/l.width >= maxColumns {
		l.width *= 2
		l.checks = halve(l.checks)
		for _, p := range l.rows { // each by itself
			p.Cells = halve(p.Cells)
		}
	}
	return int(from / l.width)
}

// participants returns every player of the log and the bundle, by number, and the columns of their cells.
func (l *matchLog) participants(m *replay.Manifest) ([]Participant, []Column) {
	for i := range m.Participants {
		p := &m.Participants[i]
		row := l.row(p.Player)
		row.Build, row.Platform, row.Sources = p.Build, p.Platform, p.Sources
		if p.Name != "" {
			row.Name = p.Name
		}
	}
	for _, g := range m.Groups {
		for _, p := range g.Players {
			l.row(p)
		}
	}
	columns := make([]Column, l.column(max(l.last, l.until))+1)
	for i := range columns {
		from := lockstep.Tick(i) * l.width
		columns[i] = Column{Span: Span{from + 1, from + l.width}}
		if i < len(l.checks) {
			columns[i].Checks = l.checks[i]
		}
	}
	all := []Participant{}
	for p := range 256 {
		if row := l.rows[lockstep.Player(p)]; row != nil {
			row.Differs = row.Differs && !m.Tie // from whom, only a verdict says
			row.Cells = append(row.Cells, make([]int, max(len(columns)-len(row.Cells), 0))...)
			all = append(all, *row)
		}
	}
	return all, columns
}

// falseKeyframes returns the keyframes up to a tick that are not the state whose checksum the log has of their tick.
func (l *matchLog) falseKeyframes(until lockstep.Tick) (all []*lockstep.DesyncError) {
	for _, k := range l.keys {
		if agreed := l.sums.agreed.find(k.Tick); k.Tick <= until && agreed != nil && agreed.hash != k.Want {
			k.Got = agreed.hash
			all = append(all, k)
		}
	}
	return all
}

// sound returns the last keyframe up to a tick that no checksum of its tick contradicts, or else the first one.
func (l *matchLog) sound(t lockstep.Tick) lockstep.Tick {
	for _, k := range slices.Backward(l.keys) {
		if agreed := l.sums.agreed.find(k.Tick); k.Tick <= t && (agreed == nil || agreed.hash == k.Want) {
			return k.Tick
		}
	}
	return l.first
}

func (l *matchLog) simulate(g *lockstep.Game, begin, from, end lockstep.Tick, o *Options) (*rerun, error) {
	r, err := l.reader()
	if err != nil {
		return nil, err
	}
	return simulateAgain(r, g, begin, from, end, o)
}

// halve adds up neighbours in pairs.
func halve(s []int) []int {
	for i := 0; i < len(s); i += 2 {
		s[i/2] = s[i]
		if i+1 < len(s) {
			s[i/2] += s[i+1]
		}
	}
	return s[:(len(s)+1)/2]
}

// raise adds one at a place, beyond the end of a list if need be.
func raise(s []int, at int) []int {
	s = append(s, make([]int, max(at+1-len(s), 0))...)
	s[at]++
	return s
}
