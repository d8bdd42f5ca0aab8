package recorder_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/recorder"
)

// The phases and draws of a tick are in notes of their own, before what is recorded after them. A note has as much as its text may.
func TestPhases(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	for _, c := range []struct{ name, calls, want string }{
		{"before a sum", "phase 1 x61 ff\ndraws 1 x62 12\nsum 1 0 1\n", `{"t":1,"p":0,"note":"phases","text":"a=00000000000000ff b#12"}|{"t":1,"p":0,"sum":"0000000000000001"}`},
		{"after a sum", "sum 1 0 1\nphase 1 x61 1\nend 1\n", `{"t":1,"p":0,"sum":"0000000000000001"}|{"t":1,"p":0,"note":"phases","text":"a=0000000000000001"}|{"t":1,"end":true}`},
		{"two ticks", "phase 1 x61 1\nphase 2 x61 1\n", `{"t":1,"p":0,"note":"phases","text":"a=0000000000000001"}|{"t":2,"p":0,"note":"phases","text":"a=0000000000000001"}`},
		{"two notes", "phase 1 x61 1\nnote 1 1 x78 x\nphase 1 x61 1\n", `{"t":1,"p":0,"note":"phases","text":"a=0000000000000001"}|{"t":1,"p":1,"note":"x","text":""}|{"t":1,"p":0,"note":"phases","text":"a=0000000000000001"}`},
		{"a full text", strings.Repeat("draws 1 *60 1\n", 17), `{"t":1,"p":0,"note":"phases","text":"` + strings.Repeat(strings.Repeat("a", 60)+"#1 ", 15) + strings.Repeat("a", 60) + `#1"}|{"t":1,"p":0,"note":"phases","text":"` + strings.Repeat("a", 60) + `#1"}`},
		{"the longest text", "draws 1 *43 1\n" + strings.Repeat("phase 1 *32 1\n", 20) + "draws 1 x61 1\n", ""},
		{"before a wrong name", "phase 1 x61 1\nphase 1 x20 1\n", `{"t":1,"p":0,"note":"phases","text":"a=0000000000000001"}`},
	} {
		file, _ := play(t, header(2)+c.calls)
		_, lines, _ := bytes.Cut(file, []byte("\n"))
		got := strings.ReplaceAll(strings.TrimSpace(string(lines)), "\n", "|")
		if c.want == "" {
			for line := range bytes.Lines(lines) {
				if text := len(line) - len(`{"t":1,"p":0,"note":"phases","text":""}`+"\n"); text > 1024 {
					t.Errorf("%s: a text of %d bytes", c.name, text)
				}
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Phases are written when the game flushes, and each tick has as many as it may, whatever the ticks before had.
func TestPhasesOfManyTicks(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	var file bytes.Buffer
	r := recorder.New(&file, recorder.Header{Title: "Pong", TickRate: 60, Players: 1, By: recorder.NoPlayer})
	for tick := range uint32(3) {
		for i := range 64 {
			r.Phase(tick, fmt.Sprint("p", i), uint64(i))
			r.Draws(tick, fmt.Sprint("s", i), 1)
		}
	}
	r.Flush()
	if r.Err() != nil || strings.Count(file.String(), "p63=000000000000003f") != 3 || strings.Contains(file.String(), `"p":`) {
		t.Errorf("got %v and\n%s", r.Err(), &file)
	}
	r.Phase(2, "p", 1)
	r.Phase(3, "p", 1)
	if err := r.Close(); err == nil || err.Error() != "recorder: phase at tick 2: want at most 64 in a tick; calls left out: 1" || err.Error() != r.Err().Error() {
		t.Errorf("got %v, then %v", err, r.Err())
	}
	if last := `{"t":3,"note":"phases","text":"p=0000000000000001"}` + "\n"; !strings.HasSuffix(file.String(), last) {
		t.Errorf("after a call that is left out, got\n%s", &file)
	}
}
