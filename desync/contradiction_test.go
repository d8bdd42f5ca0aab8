package desync_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A jury is a match of eight seats with two builds.
type jury struct {
	header  *lockstep.Header
	log     bytes.Buffer
	writer  *replay.Writer
	match   *coordinator.Coordinator
	copies  []*lockstep.Follower
	reports []*coordinator.DesyncReport
}

// newJury begins a match whose players run the games of copies. Without a referee's game the match has no referee.
func newJury(tb testing.TB, referee *lockstep.Game, copies [8]*lockstep.Game) *jury {
	tb.Helper()
	s := lockstep.DefaultSettings(8)
	s.CheckEvery, s.KeyframeEvery = 10, 50
	j := &jury{}
	_, j.header = newDots(tb, s)
	history := lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 32, EveryTick: true, States: true}}
	for _, g := range copies {
		j.copies = append(j.copies, g.NewFollower(history))
	}
	j.writer = replay.NewWriter(&j.log, replay.WriterOptions{})
	game := referee
	if game == nil {
		game = copies[0]
	}
	var err error
	if j.match, err = coordinator.New(game, j.header, record.Tee(j.writer, j), coordinator.Options{
		Relay: referee == nil, Referee: history,
	}); err != nil {
		tb.Fatal(err)
	}
	for p := range lockstep.Player(8) {
		if _, err := j.match.Join(p); err != nil {
			tb.Fatal(err)
		}
	}
	return j
}

// Append gives a record to all copies.
func (j *jury) Append(record []byte) error {
	for _, f := range j.copies {
		if err := f.Append(record); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			return err
		}
	}
	return nil
}

// play plays up to the first desync, which all players report.
func (j *jury) play(tb testing.TB, end lockstep.Tick) {
	tb.Helper()
	for len(j.reports) == 0 && j.match.Now() < end {
		if _, err := j.match.Tick(); err != nil {
			tb.Fatal(err)
		}
		for p, f := range j.copies {
			if t := j.match.Now(); t%10 == 0 {
				sum, _ := f.Sum(t)
				if err := j.match.Report(lockstep.Player(p), t, sum); err != nil {
					tb.Fatal(err)
				}
			}
		}
		j.reports = append(j.reports, j.match.Desyncs()...)
	}
	if err := j.writer.Flush(); err != nil {
		tb.Fatal(err)
	}
}

// bundle returns the bundle of a desync, and the replay in it.
func (j *jury) bundle(tb testing.TB, r *coordinator.DesyncReport) (*replay.Bundle, []byte) {
	tb.Helper()
	e := &host.Evidence{Report: *r}
	if !r.Tie && j.match.Referee() != nil {
		e.Exhibits = append(e.Exhibits, host.Exhibit{
			Tick: r.Tick, Referee: slices.Clone(j.match.Referee().State(r.Tick)), Player: slices.Clone(j.copies[r.Player].State(r.Tick)),
		})
	}
	var archive bytes.Buffer
	if err := replay.WriteBundle(&archive, j.header, e, bytes.NewReader(j.log.Bytes())); err != nil {
		tb.Fatal(err)
	}
	return open(tb, archive.Bytes()), j.log.Bytes()
}

// Verify and explain agree on the wrong party whether the local build is that of some players with the referee, against
// the referee, or without a referee.
func TestVerifyAndExplainAgree(t *testing.T) {
	at := lockstep.MustGame(dots.Rules())
	other := hurt(t, 35, xor(t, "Dots[1].Pos.X", 40))
	third := hurt(t, 35, xor(t, "Dots[2].Pos.X", 40))
	played := 0
	for _, referee := range []struct {
		name string
		game *lockstep.Game
	}{{"with the build at hand", at}, {"with another build", other}, {"that is not there", nil}} {
		for right := range lockstep.Player(9) {
			for others := lockstep.Player(0); others <= 8-right; others += max(1, (8-right)/2) {
				var copies [8]*lockstep.Game
				for p := range copies {
					switch p := lockstep.Player(p); {
					case p < right:
						copies[p] = at
					case p < right+others:
						copies[p] = other
					default:
						copies[p] = third
					}
				}
				j := newJury(t, referee.game, copies)
				j.play(t, 60)
				if len(j.reports) == 0 {
					continue // all agree
				}
				name := fmt.Sprintf("%d of 8 players and the referee %s, %d players with that one", right, referee.name, others)
				b, file := j.bundle(t, j.reports[0])
				e, err := desync.Explain(b, desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return at, nil }})
				if err != nil {
					t.Fatal(err)
				}
				unclear := (e.Verdict.Party == desync.WrongUnclear || e.Verdict.Party == desync.WrongBuild) && !e.Tie
				if text := strings.Join(e.Lines(), "\n"); e.Fields.Total > 0 && (strings.Contains(text, "right → wrong") == unclear || strings.Contains(text, "the referee → player") != unclear) {
					t.Errorf("%s: got the verdict %s with the values\n%s", name, e.Verdict.Party, text)
				}
				v, _ := judged(t, file, at, replay.VerifyOptions{})
				played++
				if want := wrongParty(referee.game != at, right); (referee.game != nil || right == 0) && v.Party != want {
					t.Errorf("%s: got %s, want %s", name, v.Party, want)
				}
				if v.Party != desync.WrongPlayer && v.Party != desync.WrongReferee && e.Cause != nil {
					t.Errorf("%s: got the cause %v without a wrong party", name, e.Cause)
				}
				if e.Verdict.Party != v.Party || !slices.Equal(e.Verdict.Players, v.Players) || !e.Verdict.Simulated {
					t.Errorf("%s: verify says %s %v, explain says %s %v: %s", name, v.Party, v.Players, e.Verdict.Party, e.Verdict.Players, e.Verdict.Text)
				}
			}
		}
	}
	if played < 60 {
		t.Errorf("got %d matches with a desync, want at least 60", played)
	}
}

// wrongParty returns the wrong party of a match in which some of eight players run the local build.
func wrongParty(otherReferee bool, right lockstep.Player) desync.Party {
	switch {
	case !otherReferee:
		return desync.WrongPlayer
	case right > 4:
		return desync.WrongReferee
	case right == 4:
		return desync.WrongUnclear
	}
	return desync.WrongBuild
}

// A bundle whose log lacks the check is judged by its manifest. An altered keyframe proves nothing about the checks:
// the player is wrong all the same.
func TestChangedLog(t *testing.T) {
	files := unpacked(t, plain())
	for name, change := range map[string]func(r *record.Record) (kept bool){
		"no check of the desync": func(r *record.Record) bool {
			return r.Tick != 160 || r.Kind != record.KindChecksum && r.Kind != record.KindMismatch
		},
		"an altered keyframe": func(r *record.Record) bool {
			if r.Kind == record.KindKeyframe && r.Tick == 100 {
				r.Keyframe.Hash++
			}
			return true
		},
	} {
		changed := 0
		file := rewriteOpen(t, files["replay.ssr"], func(r *record.Record) []*record.Record {
			before := r.Keyframe.Hash
			if !change(r) {
				changed++
				return nil
			}
			if r.Keyframe.Hash != before {
				changed++
			}
			return []*record.Record{r}
		})
		if changed == 0 {
			t.Fatalf("%s: nothing was changed", name)
		}
		e, err := explain(packed(t, with(files, "replay.ssr", file), nil), withGame(t))
		if err != nil {
			t.Fatal(err)
		}
		want := desync.WrongPlayer
		if name == "an altered keyframe" {
			want = desync.WrongKeyframe // and the player all the same
		}
		if v := e.Verdict; v.Party != want || !slices.Equal(v.Players, []lockstep.Player{victim}) || !v.Simulated {
			t.Errorf("%s: got verdict %+v", name, v)
		}
		if name == "an altered keyframe" {
			continue
		}
		e, err = explain(packed(t, with(files, "replay.ssr", file), func(m *replay.Manifest) { m.Groups[0].Checksum = "0000000000000001" }), withGame(t))
		if err != nil || e.Verdict.Party != desync.WrongBuild {
			t.Errorf("with another checksum of the referee: got verdict %+v, error %v", e.Verdict, err)
		}
	}
}

// rewriteOpen returns the replay of a match without an end, with other records.
func rewriteOpen(tb testing.TB, file []byte, change func(*record.Record) []*record.Record) []byte {
	tb.Helper()
	var out bytes.Buffer
	var enc record.Encoder
	w := replay.NewWriter(&out, replay.WriterOptions{})
	err := replay.Play(openReplay(tb, file), nil, func(r *record.Record) error {
		for _, r := range change(r) {
			if err := w.Append(enc.Record(r)); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		tb.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// A referee that admits its mistake is wrong, whichever players have reported.
func TestAdmittedMistake(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool { step(w, t); w.Players[1].Crystals += 1000; return true }, true)
	x.play(t, 400)
	files := unpacked(t, x.bundle(t))
	for admitted, want := range map[bool]desync.Party{true: desync.WrongReferee, false: desync.WrongBuild} {
		noted := !admitted
		file := rewriteOpen(t, files["replay.ssr"], func(r *record.Record) []*record.Record {
			switch {
			case r.Kind == record.KindMismatch && r.Player > 0:
				return nil // only player 0 has reported
			case r.Kind == record.KindMismatch && !noted:
				noted = true
				return []*record.Record{r, {Kind: record.KindEvent, Player: lockstep.System, Event: record.EventReferee, Text: "wrong"}}
			}
			return []*record.Record{r}
		})
		e, err := explain(packed(t, with(files, "replay.ssr", file), nil), withGame(t))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := judged(t, file, trueGame(), replay.VerifyOptions{})
		if e.Verdict.Party != want || v.Party != want {
			t.Errorf("admitted %v: verify says %s, explain says %s, want %s", admitted, v.Party, e.Verdict.Party, want)
		}
	}
}
