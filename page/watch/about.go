package watch

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An About describes a replay.
type About struct {
	Match    string        `json:"match"`
	Game     string        `json:"game"`
	Build    string        `json:"build"`
	Platform string        `json:"platform"` // of the recorder
	Size     int           `json:"size"`     // of the file, in bytes
	Period   uint32        `json:"tick_micros"`
	First    lockstep.Tick `json:"first"`
	Last     lockstep.Tick `json:"last"`
	Players  []Participant `json:"players"`
	Commands int           `json:"commands"`
	Checks   int           `json:"checks"`
	Views    bool          `json:"views"`              // the rules have views
	Ended    string        `json:"ended"`              // the reason
	Damage   string        `json:"damage"`             // the fault that ends the file early, or ""
	Recorded *Recorded     `json:"recorded,omitempty"` // of a recording of another engine
}

// A Participant is a player of the match.
type Participant struct {
	Player   lockstep.Player `json:"player"`
	Name     string          `json:"name"` // "" if it is not known
	Commands int             `json:"commands"`
}

// About describes the replay.
func (v *Viewer) About() About {
	a := About{
		Match: v.header.Match.String(), Game: v.header.Game, Build: v.header.Build, Platform: v.header.Platform, Size: v.size,
		Period: v.header.Settings.TickMicros, First: v.First(), Last: v.last, Commands: len(v.commands), Checks: len(v.checks), Ended: v.ended,
	}
	a.Views = v.game != nil && v.game.ViewSchema() != nil
	if v.damage != nil {
		a.Damage = v.damage.Error()
	} else if !v.over {
		a.Damage = "the match has no end"
	}
	if v.recorded != nil {
		a.Recorded = &Recorded{States: len(v.recorded.States), Type: v.recorded.Type()}
	}
	for p := range lockstep.Player(v.header.Settings.Players) {
		a.Players = append(a.Players, Participant{Player: p, Name: v.names[p]})
	}
	for i := range v.commands {
		if p := v.commands[i].Player; int(p) < len(a.Players) {
			a.Players[p].Commands++
		}
	}
	return a
}

// A Timeline summarizes the match in columns of equal length, from the first tick to the last.
type Timeline struct {
	Columns    int             `json:"columns"`
	Keyframes  []lockstep.Tick `json:"keyframes"`  // or of recorded states; at most one for each column
	Checked    []int           `json:"checked"`    // columns with a checksum of the log
	Activity   [][]float32     `json:"activity"`   // by player and column: commands per second
	Most       float32         `json:"most"`       // the largest Activity
	Mismatches []Mismatch      `json:"mismatches"` // the first thousand
}

const maxColumns, maxMismatches = 4000, 1000

// Timeline returns the summary of the match.
func (v *Viewer) Timeline(columns int) Timeline {
	columns = min(max(columns, 1), maxColumns)
	t := Timeline{
		Columns: columns, Keyframes: []lockstep.Tick{}, Mismatches: append([]Mismatch{}, v.mismatches[:min(len(v.mismatches), maxMismatches)]...),
		Checked: []int{}, Activity: make([][]float32, v.header.Settings.Players),
	}
	for p := range t.Activity {
		t.Activity[p] = make([]float32, columns)
	}
	ticks := max(uint64(v.last-v.First()), 1)
	column := func(at lockstep.Tick) int { return v.column(at, columns) }
	states := v.keyframes
	if v.recorded != nil {
		states = v.recorded.Ticks()
	}
	for i, k := range states {
		if i == 0 || column(states[i-1]) != column(k) {
			t.Keyframes = append(t.Keyframes, k)
		}
	}
	for _, c := range v.checks {
		if at := column(c.tick); len(t.Checked) == 0 || t.Checked[len(t.Checked)-1] != at {
			t.Checked = append(t.Checked, at)
		}
	}
	seconds := float32(ticks) / float32(columns) * float32(v.header.Settings.TickMicros) / 1e6
	for i := range v.commands {
		if c := &v.commands[i]; int(c.Player) < len(t.Activity) {
			cell := &t.Activity[c.Player][column(c.Tick)]
			*cell += 1 / seconds
			t.Most = max(t.Most, *cell)
		}
	}
	return t
}

// An Entry is a command in the list.
type Entry struct {
	Tick   lockstep.Tick   `json:"tick"`
	Player lockstep.Player `json:"player"`
	Text   string          `json:"text"`
}

// Commands returns at most n commands around a tick: up to half of them before or at it, and the rest after it.
func (v *Viewer) Commands(t lockstep.Tick, n int) []Entry {
	split := v.firstAt(t + 1)
	from := max(split-n/2, 0)
	to := min(from+n, len(v.commands))
	from = max(min(from, to-n), 0)
	entries := make([]Entry, 0, to-from)
	for i := from; i < to; i++ {
		c := &v.commands[i]
		entries = append(entries, Entry{c.Tick, c.Player, v.sentence(c)})
	}
	return entries
}

// sentence says what a command does. Those of the system have words for people here.
func (v *Viewer) sentence(c *lockstep.Command) string {
	if c.Player == lockstep.System {
		switch value, _ := record.SystemValue(c); e := value.(type) {
		case *record.Joined:
			return fmt.Sprintf("player %d joins", e.Player)
		case *record.Left:
			return fmt.Sprintf("player %d leaves for good", e.Player)
		case *record.Lost:
			return fmt.Sprintf("player %d is disconnected", e.Player)
		case *record.TakenOver:
			return fmt.Sprintf("a bot takes over for player %d", e.Player)
		case *record.Paused:
			return fmt.Sprintf("player %d pauses the match", e.Player)
		case *record.Resumed:
			return fmt.Sprintf("player %d resumes the match", e.Player)
		case *record.SpeedSet:
			return fmt.Sprintf("the match runs at %d %% of its speed", e.Percent)
		case *record.InputDelaySet:
			return fmt.Sprintf("commands now take effect after %d ticks", e.Ticks)
		}
	}
	return v.describer.Describe(c)
}

// A Differing is a check of a recording of another engine at which the players' checksums differ.
type Differing struct {
	Tick   lockstep.Tick `json:"tick"`
	Groups []Reporters   `json:"groups"` // the largest first
}

// Reporters are the players who reported one checksum, as replay verify --json has them.
type Reporters struct {
	Checksum string            `json:"checksum"`
	Players  []lockstep.Player `json:"players"`
}

// Differing returns the last check up to the present tick of a recording of another engine, if the players' checksums differ at it, or nil.
func (v *Viewer) Differing() *Differing {
	if v.recorded == nil {
		return nil
	}
	past := sort.Search(len(v.mismatches), func(i int) bool { return v.mismatches[i].Tick > v.at })
	if past == 0 {
		return nil
	}
	d := &Differing{Tick: v.mismatches[past-1].Tick}
	if i := sort.Search(len(v.checks), func(i int) bool { return v.checks[i].tick > v.at }); i > 0 && v.checks[i-1].tick > d.Tick {
		return nil
	}
	var silent [256]bool
	for _, s := range v.silences {
		if s.tick <= d.Tick {
			silent[s.player] = s.silent
		}
	}
	agreed, ok := v.checkAt(d.Tick)
	for p := range lockstep.Player(v.header.Settings.Players) {
		hash, reported := agreed, ok && !silent[p]
		for i := past - 1; i >= 0 && v.mismatches[i].Tick == d.Tick; i-- {
			if m := &v.mismatches[i]; m.Player == p {
				hash, reported = m.hash, true
			}
		}
		if reported {
			d.add(checksum.FormatHash(hash), p)
		}
	}
	slices.SortStableFunc(d.Groups, func(a, b Reporters) int { return cmp.Compare(len(b.Players), len(a.Players)) })
	return d
}

func (d *Differing) add(sum string, p lockstep.Player) {
	i := slices.IndexFunc(d.Groups, func(g Reporters) bool { return g.Checksum == sum })
	if i < 0 {
		i = len(d.Groups)
		d.Groups = append(d.Groups, Reporters{Checksum: sum})
	}
	d.Groups[i].Players = append(d.Groups[i].Players, p)
}
