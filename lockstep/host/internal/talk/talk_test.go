package talk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
)

// A purse pays for so many things of each kind.
type purse map[budget.Kind]int

func (p purse) Take(k budget.Kind, n int) bool {
	if p[k] < n {
		return false
	}
	p[k] -= n
	return true
}

func rich() purse { return purse{budget.Chat: 1 << 20, budget.Notes: 1 << 20} }

// A line of chat is paid twice, and spectators speak only where they may.
func TestSay(t *testing.T) {
	for _, row := range []struct {
		name       string
		policy     Policy
		purse      purse
		player     lockstep.Player
		text       string
		want       Answer
		chat, note int // left
	}{
		{"a player", Policy{Bytes: 99}, purse{budget.Chat: 1, budget.Notes: 1}, 0, "hi", Said, 0, 0},
		{"a spectator", Policy{Bytes: 99}, purse{budget.Chat: 1, budget.Notes: 1}, lockstep.System, "hi", Forbidden, 1, 1},
		{"a spectator who may", Policy{Bytes: 99, Spectators: true}, purse{budget.Chat: 1, budget.Notes: 1}, lockstep.System, "hi", Said, 0, 0},
		{"too much chat", Policy{Bytes: 99}, purse{budget.Notes: 1}, 0, "hi", TooMuch, 0, 1},
		{"nothing", Policy{Bytes: 99}, purse{budget.Chat: 1, budget.Notes: 1}, 0, "", Nothing, 0, 1},
		{"too many notes", Policy{Bytes: 99}, purse{budget.Chat: 1}, 0, "hi", Full, 0, 0},
		{"the match is full", Policy{Bytes: 17}, purse{budget.Chat: 1, budget.Notes: 1}, 0, "hi", Full, 0, 1},
	} {
		x := New(2, row.policy)
		if got := x.Say(row.purse, row.player, row.text, 7); got != row.want || row.purse[budget.Chat] != row.chat || row.purse[budget.Notes] != row.note {
			t.Errorf("%s: got %d, %v left", row.name, got, row.purse)
		}
	}
}

// Chat leaves a part of the bytes to readiness, and announcements leave half to people.
func TestBytes(t *testing.T) {
	const most = 3200
	x := New(2, Policy{Bytes: most})
	count := func(f func() bool) (n int) {
		for f() {
			n++
		}
		return n
	}
	text := strings.Repeat("x", 84) // 100 bytes each
	if got := count(func() bool { return x.Announce(text) }); got != 16 {
		t.Errorf("%d announcements, want 16", got)
	}
	if got := count(func() bool { return x.Say(rich(), 0, text, 0) == Said }); got != 14 {
		t.Errorf("%d lines of chat, want 14", got)
	}
	if x.Name(rich(), 0, text) || !x.Waits {
		t.Error("a name has the bytes of readiness")
	}
	if !x.Retry() || x.Waits || x.Retry() {
		t.Error("the name waits twice")
	}
	if got := count(func() bool { return x.Ready(rich(), text) }); got != 2 || !x.Waits {
		t.Errorf("%d words of readiness, want 2", got)
	}
}

// Only the last of several names is written, and none that is in the log already.
func TestNames(t *testing.T) {
	x := New(2, Policy{Bytes: 999})
	p := purse{budget.Notes: 1}
	var wrote []string
	for _, name := range []string{"a", "a", "b", "c"} {
		if x.Name(p, 1, name) {
			wrote = append(wrote, name)
		}
	}
	if p[budget.Notes]++; x.Name(p, 1, "d") {
		wrote = append(wrote, "d")
	}
	if x.Rename(1, "bot") && !x.Rename(1, "bot") {
		wrote = append(wrote, "bot")
	}
	if got := fmt.Sprint(wrote); got != "[a d bot]" || x.Named(1) != "bot" || x.Named(0) != "" {
		t.Errorf("the log has %s", got)
	}
}

// A joiner is told the latest lines, not too many and not too long ones, also after a recovery.
func TestHistory(t *testing.T) {
	lines := func(x *Talk) (all []string) {
		for _, l := range x.Lines(8) {
			all = append(all, l.Text)
		}
		return all
	}
	x := New(1, Policy{Bytes: 1 << 20, History: 3})
	read := New(1, Policy{History: MaxHistory})
	for i := range 10 {
		x.Say(rich(), 0, fmt.Sprint(i), 3)
		read.Read(0, fmt.Sprint(i))
		read.Count(fmt.Sprint(i))
	}
	x.Say(rich(), 0, "later", 8)
	if got := lines(x); !slices.Equal(got, []string{"8", "9"}) {
		t.Errorf("a joiner is told %q", got)
	}
	for range 3 {
		x.Say(rich(), 0, strings.Repeat("y", 900), 7)
	}
	if got := lines(x); len(got) != 2 || len(got[0]) != 900 {
		t.Errorf("of long lines a joiner is told %d", len(got))
	}
	read.Rename(0, "name")
	again := New(1, Policy{Bytes: 171, History: 2})
	again.Recover(read)
	if got := lines(again); !slices.Equal(got, []string{"8", "9"}) || again.Named(0) != "name" || again.Announce("") || again.Note(rich(), "") {
		t.Errorf("after a recovery a joiner is told %q of %q", got, again.Named(0))
	}
	none := New(1, Policy{Bytes: 1 << 20, History: -1})
	none.Recover(read)
	if none.Say(rich(), 0, "x", 0) != Said || len(lines(none)) != 0 {
		t.Error("a joiner is told what nobody shall be told")
	}
}
