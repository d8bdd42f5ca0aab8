package bisect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// Files is [Replays] of two files, replays or bundles, of one match. The game that fits the first file simulates
// both. Without one, only records are compared. If nothing differs, there is no error, and the result says Same. A
// damaged file is compared up to its Damage. The result is never nil: with an error, its text and its JSON say only that.
func Files(a, b *replay.File, games replay.Games, o Options) (*Bisection, error) {
	x, err := openSide(a, games)
	if err != nil {
		return refused(fileError(a, err))
	}
	y, err := openSide(b, games)
	if err != nil {
		return refused(fileError(b, err))
	}
	found, err := Replays(x.reader, y.reader, x.game, o)
	return x.finish(found, y.describer, "B", o, err)
}

// ErrNoReports means that there are no reported checksums to compare with.
var ErrNoReports = errors.New("no reported checksums")

// File is [Reports] of a file, with the result of [Files]. Without reports the error wraps [ErrNoReports].
func File(a *replay.File, reports []Report, games replay.Games, o Options) (*Bisection, error) {
	return compareFile(a, reports, games, o, "the reported checksum")
}

// compareFile is [File] of reports by somebody, as a text names it.
func compareFile(a *replay.File, reports []Report, games replay.Games, o Options, second string) (*Bisection, error) {
	if len(reports) == 0 {
		return refused(fileError(a, ErrNoReports))
	}
	x, err := openSide(a, games)
	if err != nil {
		return refused(fileError(a, err))
	}
	found, err := Reports(x.reader, reports, x.game, o)
	return x.finish(found, nil, second, o, err)
}

// Player is [File] with the checksums that the file says a player has reported, and of a bundle, with the states
// that the player sent. If the player has reported none, the error wraps [ErrNoReports].
func Player(a *replay.File, p lockstep.Player, games replay.Games, o Options) (*Bisection, error) {
	r, err := a.Reader()
	if err != nil {
		return refused(fileError(a, err))
	}
	reports, err := PlayerReports(r, p)
	if err != nil && !errors.As(err, new(*replay.DamageError)) { // the bisection reports damage
		return refused(fileError(a, err))
	}
	if b := a.Bundle(); b != nil && b.Manifest.Player == p && !b.Manifest.Tie {
		h, err := a.Header()
		if err != nil {
			return refused(fileError(a, err))
		}
		if reports, err = withStates(reports, b, h); err != nil {
			return refused(fileError(a, err))
		}
	}
	if len(reports) == 0 {
		return refused(fileError(a, fmt.Errorf("player %d: %w", p, ErrNoReports)))
	}
	return compareFile(a, reports, games, o, fmt.Sprintf("player %d", p))
}

// withStates adds the states of a bundle's player to reports. It leaves out a state that has another checksum than the one
// that was reported.
func withStates(reports []Report, b *replay.Bundle, h *lockstep.Header) ([]Report, error) {
	schema, err := state.ParseSchema(h.StateSchema)
	if err != nil {
		return nil, err
	}
	reports = withAgain(reports, &b.Manifest)
	for _, x := range b.Manifest.Exhibits {
		if x.Player == "" {
			continue
		}
		bytes, err := b.State(x.Player)
		if err != nil {
			return nil, err
		}
		var sum checksum.Sum
		if checksum.OfBytes(&sum, schema, bytes) != nil {
			continue
		}
		at := slices.IndexFunc(reports, func(r Report) bool { return r.Tick == x.Tick })
		if at < 0 {
			reports = append(reports, Report{Tick: x.Tick, Hash: sum.Hash, State: bytes})
		} else if reports[at].Hash == sum.Hash {
			reports[at].State = bytes
		}
	}
	return reports, nil
}

// withAgain adds the state hashes of the ticks that the player's machine has computed again, if they led to what it had reported.
func withAgain(reports []Report, m *replay.Manifest) []Report {
	a := m.Resimulation
	if a == nil || desync.CheckAgain(m) != nil || slices.ContainsFunc(a.Runs, func(run []string) bool { return !slices.Equal(run, a.Runs[0]) }) {
		return reports
	}
	run := a.Runs[0]
	last := slices.IndexFunc(m.Groups, func(g replay.BundleGroup) bool { return g.Checksum == run[len(run)-1] })
	if last < 0 || !slices.Contains(m.Groups[last].Players, m.Player) {
		return reports
	}
	for i, text := range run {
		t := a.From + 1 + lockstep.Tick(i)
		if hash, err := checksum.ParseHash(text); err == nil && !slices.ContainsFunc(reports, func(r Report) bool { return r.Tick == t }) {
			reports = append(reports, Report{Tick: t, Hash: hash})
		}
	}
	return reports
}

func fileError(f *replay.File, err error) error { return fmt.Errorf("%s: %w", f.Path(), err) }

// refused returns the result of a bisection that failed.
func refused(err error) (*Bisection, error) { return &Bisection{Err: err, refused: true}, err }

type fileSide struct {
	reader    *replay.Reader
	game      *lockstep.Game // nil without one
	noGame    error
	describer *lockstep.Describer // nil if the header has schemas that no game wrote
}

func openSide(f *replay.File, games replay.Games) (*fileSide, error) {
	h, err := f.Header()
	if err != nil {
		return nil, err
	}
	s := &fileSide{}
	s.game, s.noGame = games.Of(h)
	s.describer, _ = lockstep.NewDescriber(h, s.game)
	s.reader, err = f.Reader()
	return s, err
}

// finish completes the result of a bisection, or returns its error.
func (s *fileSide) finish(found *Bisection, other *lockstep.Describer, second string, o Options, err error) (*Bisection, error) {
	same := errors.Is(err, ErrSame)
	if err != nil && !same {
		return refused(err)
	}
	found.Same = same && found.Frame == nil
	found.SameStates, found.noGame, found.second, found.path, found.limit = same, s.noGame, second, o.Path, limitOf(o.Limit)
	if errors.As(err, &found.Damage) {
		found.Err = found.Damage
	}
	found.Commands = DescribeFrame(found.Frame, s.describer, other, found.limit)
	return found, nil
}

const defaultLimit = 20

func limitOf(limit int) int { return max(cmp.Or(limit, defaultLimit), 0) }

// WriteText writes the result for people. Control characters in texts of the files are escaped.
func (b *Bisection) WriteText(w io.Writer) error {
	var p words.Page
	if b.refused {
		p.Line("verdict", "not compared: %v", b.Err)
		return p.Write(w)
	}
	if b.Same {
		p.Line("verdict", "no checksum differs up to tick %d: %s of both compared%s", b.Agreed, words.Count(b.Compared, "tick"), b.ends())
		return p.Write(w)
	}
	took := ""
	if b.Took > 0 {
		took = " in " + words.Seconds(b.Took)
	}
	p.Line("searched", "%s simulated%s", words.Count(b.Simulated, "tick"), took)
	b.Commands.add(&p)
	p.Line("diverged", "%s", b.diverged())
	if b.Section != "" {
		p.Line("section", "%s", b.Section)
	}
	b.fields(&p)
	p.Line("verdict", "%s", b.verdict())
	return p.Write(w)
}

// ends says how far the replays go, if that is not to the same tick, or one of them ends there without an end of the match.
func (b *Bisection) ends() string {
	var ends []string
	for i, s := range []*Side{b.A, b.B} {
		switch name := "AB"[i : i+1]; {
		case s == nil:
		case s.Panic != "":
			ends = append(ends, fmt.Sprintf("in %s, %s", name, s.Panic))
		case s.Ticks > b.Agreed:
			ends = append(ends, fmt.Sprintf("%s goes on to tick %d", name, s.Ticks))
		}
	}
	if b.Damage != nil {
		ends = append(ends, "a replay becomes unreadable")
	}
	if ends == nil {
		return ""
	}
	return "; " + strings.Join(ends, "; ")
}

// diverged says when the states begin to differ.
func (b *Bisection) diverged() string {
	switch {
	case b.SameStates:
		return fmt.Sprintf("no state differs up to tick %d", b.Tick)
	case b.Exact:
		return fmt.Sprintf("at tick %d", b.Tick)
	case !b.Known:
		return fmt.Sprintf("at tick %d at the latest; B is unknown before that", b.Tick)
	}
	return fmt.Sprintf("after tick %d, at tick %d at the latest", b.Agreed, b.Tick)
}

// fields describes the fields that differ.
func (b *Bisection) fields(p *words.Page) {
	if b.Fields.Total == 0 {
		if b.path != "" && b.FieldsTick > 0 {
			p.Line("state", "tick %d: nothing differs at %s", b.FieldsTick, b.path)
		}
		return
	}
	source := ""
	switch {
	case b.Reconstructed:
		source = ", found by trying values until the checksum matched"
	case b.FieldsTick != b.Tick:
		source = ", in the next state that is known"
	}
	p.Line("state", "tick %d: %s in %s%s", b.FieldsTick, words.Plural(b.Fields.Total, "field", "differs", "differ"), words.Count(len(b.Fields.List), "place"), source)
	for _, text := range b.Fields.Lines(b.limit) {
		p.Line("", "%s", text)
	}
}

// verdict describes the cause.
func (b *Bisection) verdict() string {
	switch b.Cause {
	case OriginCommands:
		return "the commands differ" + b.edited()
	case OriginA:
		return "A is wrong: the game computes the same as " + b.second
	case OriginB:
		return b.second + " is wrong: the game computes the same as A"
	case OriginBoth:
		return "both are wrong: the game computes a third state"
	case OriginStart:
		return "they begin with different states"
	case OriginUnfixed:
		return "no fixed result: nobody is accused, because " + b.Parting.String()
	case OriginGames:
		return "the rules of A and of " + b.second + " differ: the commands are the same"
	}
	switch {
	case b.SameStates:
		return "the commands differ, and no state does"
	case b.noGame != nil:
		return fmt.Sprintf("unknown: the match cannot be simulated (%v)", b.noGame)
	}
	return "unknown: this program's game does not compute the states on which both agree"
}

// edited tells whose commands do not give its own checksums.
func (b *Bisection) edited() string {
	switch {
	case b.EditedA && b.EditedB:
		return ", and neither replay has the checksums that its own commands lead to"
	case b.EditedA:
		return "; A was edited: its own commands do not lead to its checksums"
	case b.EditedB:
		return "; B was edited: its own commands do not lead to its checksums"
	}
	return ", and each replay has the checksums that its own commands lead to"
}

// MarshalJSON returns the result as samestep replay bisect --json prints it.
func (b *Bisection) MarshalJSON() ([]byte, error) {
	if b.refused {
		return json.Marshal(struct {
			Class replay.Class `json:"class"`
			Error string       `json:"error"`
		}{replay.ClassOf(b.Err), words.OfError(b.Err)})
	}
	if b.Same {
		return json.Marshal(struct {
			Same     bool          `json:"same"`
			Agreed   lockstep.Tick `json:"agreed"`
			Compared int           `json:"compared"`
			A        *Side         `json:"a,omitempty"`
			B        *Side         `json:"b,omitempty"`
			Seconds  float64       `json:"seconds"`
			Error    string        `json:"error,omitempty"`
		}{true, b.Agreed, b.Compared, b.A, b.B, b.Took.Seconds(), words.OfError(b.Err)})
	}
	type plain Bisection // without this method
	return json.Marshal(struct {
		*plain
		Frame   *FrameText `json:"frame"`
		Same    bool       `json:"same"`
		Seconds float64    `json:"seconds"`
		Error   string     `json:"error,omitempty"`
	}{(*plain)(b), b.Commands, false, b.Took.Seconds(), words.OfError(b.Err)})
}
