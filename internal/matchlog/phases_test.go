package matchlog_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/recorder"
)

// The text of a note is all of its items or none.
func TestPhases(t *testing.T) {
	sum := strings.Repeat("f", 16)
	var p matchlog.Phases
	if !p.Add("a-Z9._/:="+sum+" dice#0 dice#18446744073709551615 "+strings.Repeat("n", 64)+"=0000000000000001") || !slices.Equal(p.List, []matchlog.Phase{
		{Name: "a-Z9._/:", Value: 1<<64 - 1}, {Name: "dice", Draws: true}, {Name: "dice", Draws: true, Value: 1<<64 - 1}, {Name: strings.Repeat("n", 64), Value: 1},
	}) {
		t.Errorf("got %+v", p.List)
	}
	for _, text := range []string{
		"", " ", "a", "=" + sum, "a=" + sum + " ", " a=" + sum, "a=" + sum + "  b=" + sum, "a=" + sum[1:], "a=0" + sum, "a=F" + sum[1:], "a=+" + sum[1:], "a#", "a#01", "a#+1", "a#-1",
		"a#18446744073709551616", "a#1_0", "a b=" + sum, "é=" + sum, "a\x1b=" + sum, "a,=" + sum, "a;=" + sum, "a\"=" + sum, strings.Repeat("n", 65) + "=" + sum, "a==" + sum, "a=" + sum + " b",
	} {
		before := len(p.List)
		if p.Add(text) || len(p.List) != before {
			t.Errorf("%q is taken", text)
		}
	}
}

// A hostile tick costs no more than its limits.
func TestTooManyPhases(t *testing.T) {
	var p matchlog.Phases
	for range 1000 {
		if !p.Add(strings.Repeat("a=0000000000000001 ", 40) + "dice#1 dice#2") {
			t.Fatal("not taken")
		}
	}
	if len(p.List) != 128 {
		t.Errorf("got %d phases and draws of a tick, want 64 of each", len(p.List))
	}
	if p.Reset(); len(p.List) != 0 || !p.Add("dice#1") || len(p.List) != 1 {
		t.Errorf("the next tick has %+v", p.List)
	}
}

// What the recorder writes is read again, in the quick way, of a player's machine and of a server's.
func TestRecorderPhases(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	for _, by := range []int{1, recorder.NoPlayer} {
		var file strings.Builder
		r := recorder.New(&file, recorder.Header{Title: "Pong", TickRate: 60, Players: 2, By: by})
		var want []matchlog.Phase
		for i := range 64 {
			name := fmt.Sprintf("%s%d", strings.Repeat("phase", 12), i)[5:]
			r.Phase(3, name, uint64(i)<<40)
			r.Draws(3, "dice", uint64(i))
			want = append(want, matchlog.Phase{Name: name, Value: uint64(i) << 40}, matchlog.Phase{Name: "dice", Draws: true, Value: uint64(i)})
		}
		r.Sum(3, 0, 1)
		r.Phase(4, "move", 5)
		r.End(4)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		head, lines, _ := strings.Cut(file.String(), "\n")
		h, err := matchlog.ParseHeader([]byte(head))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(lines) {
			e, ok := matchlog.QuickEntry(&h, []byte(strings.TrimSpace(line)))
			if ok != !strings.Contains(line, "end") || e.Topic != "" && (e.Player == matchlog.Nobody) != (by < 0) {
				t.Errorf("by %d: got %+v, read quickly: %t, of %s", by, e, ok, line)
			}
		}
		_, entries, err := readAll(file.String())
		if err != io.EOF {
			t.Fatal(err)
		}
		var p, later matchlog.Phases
		for _, e := range entries {
			switch {
			case e.Topic != matchlog.TopicPhases:
			case e.Tick == 3:
				p.Add(e.Text)
			default:
				later.Add(e.Text)
			}
		}
		if !slices.Equal(p.List, want) || !slices.Equal(later.List, []matchlog.Phase{{Name: "move", Value: 5}}) {
			t.Errorf("by %d: got %+v and %+v", by, p.List, later.List)
		}
	}
}
