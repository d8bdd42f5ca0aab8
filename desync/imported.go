package desync

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// An Imported compares the players' reports of a match of another engine. Such a match cannot be simulated here, so the
// reports are compared only with each other.
type Imported struct {
	Checks int           `json:"checks"` // that were compared
	Alone  int           `json:"alone"`  // further ones, that at most one player reported
	Ticks  lockstep.Tick `json:"ticks"`

	// First is the first check that differs, and Groups has who reported what then, the largest group first. It has more than
	// half of the players who reported if Majority. Later checks change nothing of this. Groups are empty if nothing differs.
	First    lockstep.Tick `json:"first"`
	Groups   []Group       `json:"groups"`
	Majority bool          `json:"majority"`
	Sections []string      `json:"sections,omitempty"` // of the state, that differ at First, as far as known

	Differ []*Differing `json:"differ"` // players, in the order of their first differences
	Ties   int          `json:"ties"`   // checks in which no group was the largest
	Ended  bool         `json:"ended"`
	Torn   bool         `json:"torn"` // the recording has no end: the match went on

	header *lockstep.Header
	names  [256]string
	agreed lockstep.Tick // the last check before First at which all agreed, if known
	known  bool

	last   lockstep.Tick // of the last check
	hash   uint64        // the agreed checksum of it
	others []mismatch    // those that differ from it
	silent [256]bool     // players who did not report at the last check
	next   [256]bool     // players whose next checksum is missing
	seats  lockstep.Player

	own   *matchlog.Header // of a recording
	lines []matchlog.Entry // checksums of the last tick with more than a hash
}

// A Differing is a player whose reports differ from those of the others.
type Differing struct {
	Player lockstep.Player `json:"player"`
	Checks int             `json:"checks"` // in which it differs
	First  lockstep.Tick   `json:"first"`
	Last   lockstep.Tick   `json:"last"`

	// Healed is the first check after Last at which the player agreed; 0 if there is none: the difference persists.
	Healed lockstep.Tick `json:"healed"`

	// Gone is the first check after Last that the player did not report; 0 if it has reported since.
	Gone lockstep.Tick `json:"gone"`
}

// ErrNothingCompared means that there was nothing to compare, so that nothing is known.
var ErrNothingCompared = errors.New("nothing to compare")

var errAlone = fmt.Errorf("%w: no check was reported by two players", ErrNothingCompared)

// CompareReports compares the reports of the players of an imported match. With an error, the result has the reports
// before the damage. The error wraps [ErrNothingCompared] if no check was reported by two players.
func CompareReports(r *replay.Reader) (*Imported, error) {
	m := &Imported{Groups: []Group{}, Differ: []*Differing{}}
	err := replay.Play(r, nil, m.record)
	m.end()
	if len(m.Differ) == 0 && m.Checks == 0 {
		err = errors.Join(errAlone, err)
	}
	for i := range m.Groups {
		m.Groups[i].name(func(p lockstep.Player) string { return m.names[p] })
	}
	return m, err
}

func (m *Imported) record(rec *record.Record) error {
	if rec.Ticks() > 0 {
		m.Ticks = rec.Tick
	}
	switch rec.Kind {
	case record.KindHeader:
		m.header, m.seats = rec.Header, lockstep.Player(rec.Header.Settings.Players)
	case record.KindEvent:
		if rec.Event == record.EventReports {
			m.next[rec.Player] = rec.Text != "yes"
		}
	case record.KindNote:
		if rec.Topic == record.TopicName {
			m.names[rec.Player] = rec.Text
		}
	case record.KindForeign:
		return m.line(rec)
	case record.KindEnd:
		m.Ended, m.Torn = true, rec.Text == replay.ForeignTorn
	case record.KindChecksum:
		m.begin(rec.Tick)
		m.hash = rec.Hash
	case record.KindMismatch:
		if m.Checks+m.Alone == 0 || m.last != rec.Tick {
			m.begin(rec.Tick)
			m.Ties++
		}
		m.differs(rec.Player, rec.Tick)
		m.others = append(m.others, mismatch{rec.Tick, rec.Player, rec.Hash})
	}
	return nil
}

// line keeps the line of a checksum with more than a hash, up to the first difference.
func (m *Imported) line(rec *record.Record) error {
	if len(m.Groups) > 0 || bytes.Contains(rec.Line, []byte(`"state":`)) && m.own != nil {
		return nil
	}
	if m.own == nil {
		h, err := matchlog.ParseHeader(rec.Line)
		if err != nil {
			return matchlog.MalformedAfter(uint32(rec.Tick), err)
		}
		m.own = &h
		return nil
	}
	e, _, err := m.own.ParseEntry(rec.Line)
	switch {
	case err != nil:
		return matchlog.MalformedAfter(uint32(rec.Tick), err)
	case !e.Checksum:
		return nil
	case len(m.lines) > 0 && m.lines[0].Tick != e.Tick || len(m.lines) == int(lockstep.MaxPlayers):
		if m.end(); len(m.Groups) > 0 {
			return nil
		}
		m.lines = m.lines[:0]
	}
	m.lines = append(m.lines, e)
	return nil
}

// lineOf returns the line of a player's checksum at the last check, or nil.
func (m *Imported) lineOf(p lockstep.Player) *matchlog.Entry {
	for i := range m.lines {
		if e := &m.lines[i]; e.Tick == uint32(m.last) && e.Player == uint8(p) {
			return e
		}
	}
	return nil
}

// group groups the players by what they reported at the last check, which is the first one that differs.
func (m *Imported) group() {
	m.First = m.last
	reported := 0
	for p := range m.seats {
		hash := m.hash
		if i := slices.IndexFunc(m.others, func(o mismatch) bool { return o.player == p }); i >= 0 {
			hash = m.others[i].hash
		} else if m.silent[p] {
			continue
		}
		reported++
		text := checksum.FormatHash(hash)
		if e := m.lineOf(p); e != nil && e.Long != "" {
			text = e.Long
		}
		i := slices.IndexFunc(m.Groups, func(g Group) bool { return g.Checksum == text })
		if i < 0 {
			i = len(m.Groups)
			m.Groups = append(m.Groups, Group{BundleGroup: replay.BundleGroup{Checksum: text}})
		}
		m.Groups[i].Players = append(m.Groups[i].Players, p)
	}
	slices.SortStableFunc(m.Groups, func(a, b Group) int { return cmp.Compare(len(b.Players), len(a.Players)) })
	m.Majority = 2*len(m.Groups[0].Players) > reported
	m.section()
	m.lines = nil
}

// section compares the checksums of the sections of two groups.
func (m *Imported) section() {
	a := m.lineOf(m.Groups[0].Players[0])
	for _, g := range m.Groups[1:] {
		b := m.lineOf(g.Players[0])
		if a == nil || b == nil || len(a.Sections) != len(b.Sections) {
			continue
		}
		for i, name := range m.own.Sections {
			if i < len(a.Sections) && a.Sections[i] != b.Sections[i] && !slices.Contains(m.Sections, name) {
				m.Sections = append(m.Sections, name)
			}
		}
	}
}

// begin ends the last check, and begins that of a tick.
func (m *Imported) begin(t lockstep.Tick) {
	m.end()
	m.last, m.silent, m.hash, m.others = t, m.next, 0, m.others[:0]
	if m.reporters() < 2 {
		m.Alone++
	} else {
		m.Checks++
	}
}

// reporters returns how many players reported at the last check.
func (m *Imported) reporters() (n int) {
	for p := range m.seats {
		if !m.silent[p] {
			n++
		}
	}
	return n
}

// end ends the last check, and notes the players who agreed at it, or did not report.
func (m *Imported) end() {
	switch {
	case len(m.Groups) > 0 || m.Checks+m.Alone == 0:
	case len(m.others) > 0:
		m.group()
	case m.reporters() > 1:
		m.agreed, m.known = m.last, true
	}
	for _, d := range m.Differ {
		switch {
		case d.Healed > 0 || d.Last == m.last:
		case !m.silent[d.Player]:
			d.Healed, d.Gone = m.last, 0
		case d.Gone == 0:
			d.Gone = m.last
		}
	}
}

func (m *Imported) differs(p lockstep.Player, t lockstep.Tick) {
	for _, d := range m.Differ {
		if d.Player == p {
			d.Checks++
			d.Last, d.Healed, d.Gone = t, 0, 0
			return
		}
	}
	m.Differ = append(m.Differ, &Differing{Player: p, Checks: 1, First: t, Last: t})
}
