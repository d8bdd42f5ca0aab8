package desync_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// The texts that people have written in the match of secretBundle. Each is in some output unless it is redacted.
var secrets = []string{"Zebedee", "Quokka", "chatterbox", "gametopic", "whispered", "becauseof", "inthestate", "incommand"}

type (
	hall struct {
		Said   string
		Speech [2]struct{ ID, Length uint32 }
	}
	say struct{ Words string }
)

func hallGame(loud bool) *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[hall, struct{}]{
		Name: "hall", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[say](1, "say")},
		New: func(w *hall, _ *lockstep.Settings, _ *struct{}) error { w.Said = "inthestate"; return nil },
		Step: func(w *hall, _ *struct{}, t *lockstep.Turn) {
			for _, c := range t.Commands {
				if m, ok := c.Value.(*say); ok {
					w.Said = m.Words
					w.Speech[c.Player].Length += uint32(len(m.Words))
					if loud {
						w.Said += ` "whispered": `
					}
				}
			}
		},
		Describe: func(c *lockstep.Command) string { return "somebody says " + c.Value.(*say).Words },
	})
}

// secretBundle returns the bundle of a match in which people have written much.
func secretBundle(t *testing.T) []byte {
	t.Helper()
	game := hallGame(false)
	settings := lockstep.DefaultSettings(2)
	settings.CheckEvery = 5
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	kept := lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}}
	wrong := hallGame(true).NewFollower(kept)
	var log, archive bytes.Buffer
	file := replay.NewWriter(&log, replay.WriterOptions{})
	match, err := coordinator.New(game, header, record.Tee(file, stubborn{wrong}), coordinator.Options{Referee: kept})
	if err != nil {
		t.Fatal(err)
	}
	for p := range lockstep.Player(2) {
		match.Join(p)
	}
	for _, n := range [][2]string{{record.TopicName, "Zebedee"}, {record.TopicChat, "chatterbox"}, {"hall/shout", "gametopic"}, {record.TopicReady, record.ReadyYes}} {
		if err := match.Note(1, n[0], n[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := match.Event(1, record.EventReason, "becauseof"); err != nil {
		t.Fatal(err)
	}
	for i := range uint32(5) {
		kind, payload, err := game.NewPayloads().Encode(&say{Words: fmt.Sprint("incommand", i)})
		if err != nil {
			t.Fatal(err)
		}
		match.Submit(0, lockstep.Sequence(i+1), kind, payload)
		match.Tick()
	}
	sum, _ := wrong.Sum(5)
	if err := match.Report(1, 5, sum); err != nil {
		t.Fatal(err)
	}
	evidence := &host.Evidence{
		Report:       *match.Desyncs()[0],
		Exhibits:     []host.Exhibit{{Tick: 5, Referee: match.Referee().State(5), Player: wrong.State(5)}},
		Participants: []host.Participant{{Player: 0, Name: "Quokka", Build: "1", Platform: "linux"}, {Player: 1, Name: "Zebedee", Build: "1", Platform: "linux"}},
	}
	if err := file.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := replay.WriteBundle(&archive, header, evidence, &log); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// outputs returns everything that is written about a bundle.
func outputs(t *testing.T, archive []byte, redact bool) string {
	t.Helper()
	all := ""
	for _, code := range []bool{false, true} {
		o := desync.Options{Redact: redact}
		if code {
			o.Game = func(*lockstep.Header) (*lockstep.Game, error) { return hallGame(false), nil }
		}
		e, err := desync.Explain(open(t, archive), o)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Fields.List) == 0 || len(e.Commands) == 0 && code {
			t.Errorf("got no fields or commands: %s", text)
		}
		all += strings.Join(e.Lines(), "\n") + string(text) + pageOf(t, e)
	}
	return all
}

// A redacted explanation has no text that people have written: no name, no chat, and no string of the match.
func TestRedact(t *testing.T) {
	archive := secretBundle(t)
	plain, clean := outputs(t, archive, false), outputs(t, archive, true)
	for _, s := range []string{"Zebedee", "Quokka", "whispered", "incommand"} {
		if !strings.Contains(plain, s) {
			t.Errorf("%s is not in the plain outputs: the test shows nothing", s)
		}
	}
	for _, s := range secrets {
		if strings.Contains(clean, s) {
			t.Errorf("%s is in a redacted output", s)
		}
	}
	for _, want := range []string{"hall", "Said", "player 1", "Words"} {
		if !strings.Contains(clean, want) {
			t.Errorf("the redacted output lacks %q", want)
		}
	}
}

// A redacted bundle has neither names nor notes of people, and the same explanation. The strings that stay are listed.
func TestRedactBundle(t *testing.T) {
	archive := secretBundle(t)
	var out bytes.Buffer
	if err := replay.RedactBundle(&out, open(t, archive), 1<<20); err != nil {
		t.Fatal(err)
	}
	content := func(archive []byte) string {
		all := ""
		for _, f := range unpacked(t, archive) {
			all += string(f)
		}
		return all
	}
	before, after := content(archive), content(out.Bytes())
	stays := []string{"inthestate", "incommand", "whispered"}
	for _, s := range secrets {
		if !strings.Contains(before, s) {
			t.Errorf("%s is not in the bundle: the test shows nothing", s)
		}
		if strings.Contains(after, s) != slices.Contains(stays, s) {
			t.Errorf("%s: in the redacted bundle %v", s, strings.Contains(after, s))
		}
	}
	if !strings.Contains(after, record.TopicReady) {
		t.Error("a note of the engine is gone")
	}
	sources := regexp.MustCompile(`("who":"recorder".*?"module":)"[^"]*"`) // of the recorder, which a redacted bundle does not name
	plain, clean := sources.ReplaceAllString(outputs(t, archive, true), `$1""`), outputs(t, out.Bytes(), true)
	if plain != clean {
		t.Error("the explanation of the redacted bundle differs in more than the sources")
	}
	texts, err := replay.PlainTexts(headerOf(t, archive))
	if want := []string{"state: Said", "command say: Words"}; err != nil || !slices.Equal(texts, want) {
		t.Errorf("got %q, %v, want %q", texts, err, want)
	}
}

func headerOf(t *testing.T, archive []byte) *lockstep.Header {
	t.Helper()
	file, err := open(t, archive).Replay(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return rec.Header
}
