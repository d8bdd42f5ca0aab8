package desync

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// An exhibit is both sides' state of one tick, checked against the schema.
type exhibit struct {
	tick    lockstep.Tick
	referee side
	player  side
}

// checkManifest refuses a table of contents that contradicts itself.
func checkManifest(m *replay.Manifest) error {
	switch {
	case m.Tick == 0:
		return fmt.Errorf("desync: %w: a desync at tick 0", replay.ErrBundle)
	case m.Agreed >= m.Tick:
		return fmt.Errorf("desync: %w: agreed at tick %d, want before tick %d", replay.ErrBundle, m.Agreed, m.Tick)
	case m.Began >= m.Tick:
		return fmt.Errorf("desync: %w: began at tick %d, want before tick %d", replay.ErrBundle, m.Began, m.Tick)
	case m.Twin != nil && (m.Twin.Since != m.Agreed || m.Began > m.Agreed):
		return fmt.Errorf("desync: %w: a twin of tick %d on a machine that began at tick %d, want agreed at tick %d", replay.ErrBundle, m.Twin.Since, m.Began, m.Agreed)
	case len(m.Exhibits) > maxExhibits:
		return fmt.Errorf("desync: %w: %d exhibits, want at most %d", replay.ErrBundle, len(m.Exhibits), maxExhibits)
	case len(m.Flights) > replay.MaxFlights:
		return fmt.Errorf("desync: %w: %d records of last ticks, want at most %d", replay.ErrBundle, len(m.Flights), replay.MaxFlights)
	}
	for i := range m.Exhibits {
		t := m.Exhibits[i].Tick
		if t < m.Agreed || t > m.Tick || i > 0 && t <= m.Exhibits[i-1].Tick {
			return fmt.Errorf("desync: %w: exhibit %d is of tick %d, want ascending ones of ticks %d to %d", replay.ErrBundle, i, t, m.Agreed, m.Tick)
		}
	}
	if err := CheckAgain(m); err != nil {
		return err
	}
	for i := range m.Groups {
		if _, err := checksum.ParseHash(m.Groups[i].Checksum); err != nil {
			return fmt.Errorf("desync: %w: group %d: %w", replay.ErrBundle, i, err)
		}
	}
	return nil
}

// loadExhibits reads the states in the bundle. It leaves out a state that does not match the schema, with a note.
func loadExhibits(b *replay.Bundle, s *state.Schema, most int, note func(string, ...any)) ([]exhibit, error) {
	var all []exhibit
	left := most
	load := func(name, whose string, t lockstep.Tick) (side, error) {
		if name == "" {
			return side{}, nil
		}
		p, err := b.State(name)
		if err != nil {
			return side{}, err
		}
		if left -= len(p); left < 0 {
			return side{}, fmt.Errorf("desync: %w: states of more than %d bytes in all", replay.ErrBundle, most)
		}
		var sum checksum.Sum
		if err := checksum.OfBytes(&sum, s, p); err != nil {
			note("the %s's state of tick %d is invalid: %v", whose, t, err)
			return side{}, nil
		}
		return side{p, sum.Hash}, nil
	}
	for i := range b.Manifest.Exhibits {
		m := &b.Manifest.Exhibits[i]
		x := exhibit{tick: m.Tick}
		var err error
		if x.referee, err = load(m.Referee, "referee", m.Tick); err != nil {
			return nil, err
		}
		if x.player, err = load(m.Player, "player", m.Tick); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// A work builds an explanation.
type work struct {
	options  Options
	bundle   *replay.Bundle
	manifest *replay.Manifest
	log      *matchLog
	exhibits []exhibit
	words    *lockstep.Describer // with the game's names, if the game is available
	plain    *lockstep.Describer
	again    *rerun     // or nil
	repeated *repeater  // of it
	flown    *Departure // of the machine of the report, by its record; or nil
	tester   *tester
	since    lockstep.Tick // the last check at which the sides agreed
	good     lockstep.Tick // the last tick at which the sides were equal
	bad      lockstep.Tick // the first tick at which they are known to differ
	right    []byte        // the states of tick bad; nil if not known
	wrong    []byte
	later    map[lockstep.Tick][]byte // the wrong side's states after tick bad; only looked up
	listed   *listing                 // of right and wrong, or nil
	e        Explanation
}

func (w *work) note(format string, args ...any) {
	w.e.Notes = append(w.e.Notes, fmt.Sprintf(format, args...))
}

func (w *work) read() error {
	m := w.manifest
	if err := checkManifest(m); err != nil {
		return err
	}
	file, err := w.bundle.Replay(w.options.MaxReplay)
	if err != nil {
		return err
	}
	if w.log, err = readLog(file, m.Tick); err != nil {
		return err
	}
	h := w.log.header
	w.e = Explanation{
		Match: h.Match.String(), Game: h.Game, Build: h.Build, Recorder: h.Platform,
		Machine: lockstep.Platform(),
		Tick:    m.Tick, Agreed: m.Agreed, Began: m.Began, Player: m.Player, Tie: m.Tie, Section: m.Section,
		Changes: []Change{}, Commands: []Touch{}, Streams: []Stream{}, Draws: []Draws{}, Notes: []string{}, Tried: []Tried{}, Steps: []NextStep{},
	}
	w.e.Groups = reportedIn(m).Groups
	if m.Match != w.e.Match {
		w.note("the bundle names match %s, but its replay is of match %s", m.Match, w.e.Match)
	}
	if w.log.damage != nil {
		w.note("the bundle's replay cannot be read to its end: %v", w.log.damage)
	}
	w.e.Who, w.e.Columns = w.log.participants(m)
	if w.exhibits, err = loadExhibits(w.bundle, w.log.schema, w.options.MaxStates, w.note); err != nil {
		return err
	}
	w.plain, err = lockstep.NewDescriber(h, nil)
	w.words = w.plain
	w.since, w.bad = max(m.Agreed, m.Began, w.log.first), m.Tick
	w.good = w.since
	return err
}

// sides returns the right and the wrong state of an exhibit, according to the verdict.
func (w *work) sides(x *exhibit) (right, wrong side) {
	again := w.again.side(x.tick)
	switch {
	case w.e.Verdict.Party == WrongReferee:
		if again.known() {
			return again, x.referee
		}
		return x.player, x.referee
	case w.e.Verdict.undecided() || !again.known():
		return x.referee, x.player
	}
	return again, x.player
}

func (w *work) command(c *lockstep.Command) Command {
	return Command{c.Tick, c.Player, c.Sequence, w.words.Describe(c)}
}

// maxAgain is how many ticks a bundle may have computed again at most.
const maxAgain = 4096

// CheckAgain returns an error unless the resimulation of a bundle agrees with itself: its ticks, hashes, phases and limits.
func CheckAgain(m *replay.Manifest) error {
	a := m.Resimulation
	if a == nil {
		return nil
	}
	within := func(t lockstep.Tick) bool { return t == 0 || t > a.From && t <= a.To }
	if a.From < m.Agreed || a.From >= a.To || a.To != m.Tick || a.To-a.From > maxAgain || !within(a.First) || len(a.Runs) == 0 {
		return fmt.Errorf("desync: %w: ticks %d to %d were computed again in %d runs", replay.ErrBundle, a.From, a.To, len(a.Runs))
	}
	for _, run := range a.Runs {
		if len(run) != int(a.To-a.From) {
			return fmt.Errorf("desync: %w: %d ticks were computed again, want %d", replay.ErrBundle, len(run), a.To-a.From)
		}
	}
	hashes := slices.Concat(append(a.Runs, a.Right)...)
	for _, phases := range [][]replay.BundlePhase{a.RightPhases, a.Phases} {
		if len(phases) > protocol.MaxPhases {
			return fmt.Errorf("desync: %w: %d phases, want at most %d", replay.ErrBundle, len(phases), protocol.MaxPhases)
		}
		for _, p := range phases {
			if len(p.Name) > record.MaxName {
				return fmt.Errorf("desync: %w: a phase with a name of %d bytes, want at most %d", replay.ErrBundle, len(p.Name), record.MaxName)
			}
			hashes = append(hashes, p.Checksum)
		}
	}
	for _, h := range hashes {
		if _, err := checksum.ParseHash(h); err != nil {
			return fmt.Errorf("desync: %w: computed again: %w", replay.ErrBundle, err)
		}
	}
	return nil
}

// game returns the game of the match, or nil with a note of what is missing without it.
func (w *work) game(missing string) *lockstep.Game {
	if w.options.Game == nil {
		w.note("no game code: %s", missing)
		return nil
	}
	g, err := w.options.Game(w.log.header)
	if err != nil {
		w.note("no game code (%v): %s", err, missing)
		return nil
	}
	if words, err := lockstep.NewDescriber(w.log.header, g); err == nil && !w.options.Redact { // a game's words may have texts of people
		w.words = words
	}
	return g
}

func (w *work) finish() *Explanation {
	w.e.Traits = traitsOf(w.e.Who)
	if w.options.Redact {
		w.e.redact()
	}
	w.e.Title = w.e.answer()
	return &w.e
}
