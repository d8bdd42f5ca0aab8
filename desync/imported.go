package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// An Imported compares the players' reports of a match of another engine. Such a match cannot be simulated here, so the
// reports are compared only with each other.
type Imported struct {
	Checks int           `json:"checks"`
	Alone  int           `json:"alone"` // checks that at most one player reported: nothing was compared
	Ticks  lockstep.Tick `json:"ticks"`
	Differ []*Differing  `json:"differ"` // players, in the order of their first differences
	Ties   int           `json:"ties"`   // checks in which no group was the largest
	Ended  bool          `json:"ended"`
	Torn   bool          `json:"torn"` // the recording has no end: the match went on

	last   lockstep.Tick // of the last check
	silent [256]bool     // players who did not report at the last check
	next   [256]bool     // players whose next checksum is missing
	seats  lockstep.Player
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

// CompareReports compares the reports of the players of an imported match. With an error, the result has the reports
// before the damage.
func CompareReports(r *replay.Reader) (*Imported, error) {
	m := &Imported{Differ: []*Differing{}}
	err := replay.Play(r, nil, m.record)
	m.end()
	return m, err
}

func (m *Imported) record(rec *record.Record) error {
	if rec.Ticks() > 0 {
		m.Ticks = rec.Tick
	}
	switch rec.Kind {
	case record.KindHeader:
		m.seats = lockstep.Player(rec.Header.Settings.Players)
	case record.KindNote:
		if rec.Topic == replay.ForeignReports {
			m.next[rec.Player] = rec.Text != "yes"
		}
	case record.KindEnd:
		m.Ended, m.Torn = true, rec.Text == replay.ForeignTorn
	case record.KindChecksum:
		m.begin(rec.Tick)
	case record.KindMismatch:
		if m.Checks == 0 || m.last != rec.Tick {
			m.begin(rec.Tick)
			m.Ties++
		}
		m.differs(rec.Player, rec.Tick)
	}
	return nil
}

// begin ends the last check, and begins that of a tick.
func (m *Imported) begin(t lockstep.Tick) {
	m.end()
	m.Checks++
	m.last, m.silent = t, m.next
	reported := 0
	for p := range m.seats {
		if !m.silent[p] {
			reported++
		}
	}
	if reported < 2 {
		m.Alone++
	}
}

// end notes the players who agreed at the last check, or did not report.
func (m *Imported) end() {
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
