package bans

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A match keeps a limited number of bans. Kicks leave room for them, and expired ones make room. The texts are bounded,
// too.
func TestBansAreBounded(t *testing.T) {
	var b Table
	now, until := lockstep.Time(0), 60*lockstep.Second
	for i := range 2 * maxKicks {
		b.KeepOut(now, until, Person{Subject: fmt.Sprint("kicked ", i)}, "")
	}
	if len(b.bans) != maxKicks {
		t.Fatalf("got %d bans after %d kicks, want %d", len(b.bans), 2*maxKicks, maxKicks)
	}
	long := strings.Repeat("x", budget.MaxKey-4)
	for i := range Max - maxKicks {
		if err := b.Add(now, Ban{Subject: fmt.Sprintf("%s%04d", long, i), Name: strings.Repeat("n", record.MaxName), Address: strings.Repeat("y", record.MaxName), Guests: strings.Repeat("y", record.MaxName), Reason: strings.Repeat("z", 2*maxReason)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Add(now, Ban{Subject: "one more"}); !errors.Is(err, Err) {
		t.Errorf("one more: got %v, want %v", err, Err)
	}
	if err := b.Add(now, Ban{Subject: "kicked 0"}); err != nil {
		t.Errorf("in the place of another: %v", err)
	}
	if got := b.Memory(); got > MemoryBound || got < MemoryBound/2 {
		t.Errorf("got %d bytes of bans, want at most %d", got, MemoryBound)
	}
	now = until + lockstep.Second
	if err := b.Add(now, Ban{Subject: "one more"}); err != nil {
		t.Errorf("after the kicks: %v", err)
	}
	if got, want := len(b.bans), Max-maxKicks+2; got != want {
		t.Errorf("got %d bans after the time of the kicks, want %d", got, want)
	}
	for _, ban := range []Ban{{}, {Subject: long + "12345"}, {Address: strings.Repeat("y", record.MaxName+1)}, {Subject: "s", Until: now}} {
		if err := b.Add(now, ban); !errors.Is(err, Err) {
			t.Errorf("%.20s: got %v, want %v", ban.Subject, err, Err)
		}
	}
}

// The ban of each kind of person keeps it out under its other names, and nobody else.
func TestWhomABanConcerns(t *testing.T) {
	player := Person{Subject: "p", Name: "P", Address: "home"}
	guest := Person{Subject: "g", Name: "G", Address: "home", Guest: true}
	watcher := Person{Subject: "w", Address: "home", Spectator: true}
	another := func(p Person, subject, address string) Person {
		p.Subject, p.Address = subject, address
		return p
	}
	for _, row := range []struct {
		name   string
		ban    Ban
		who    Person
		seated bool
		want   bool
	}{
		{"a player", For(player), player, true, true},
		{"a player elsewhere", For(player), another(player, "p", "away"), false, true},
		{"another player at home", For(player), another(player, "q", "home"), false, false},
		{"a player as a guest", For(player), guest, false, true},
		{"a guest who plays where a player is banned", For(player), guest, true, false},
		{"a guest", For(guest), guest, false, true},
		{"a guest with another subject", For(guest), another(guest, "h", "home"), false, true},
		{"a guest who plays at the same address", For(guest), guest, true, false},
		{"a guest elsewhere", For(guest), another(guest, "g", "away"), false, false},
		{"a player where a guest is banned", For(guest), player, false, false},
		{"a spectator", For(watcher), watcher, false, true},
		{"a spectator with the same token elsewhere", For(watcher), another(watcher, "w", "away"), false, false},
		{"a spectator as a guest", For(watcher), guest, false, true},
		{"a name", Ban{Name: "P"}, player, true, true},
		{"another name", Ban{Name: "Q"}, player, false, false},
	} {
		var b Table
		if err := b.Add(0, row.ban); err != nil {
			t.Fatal(err)
		}
		if got := b.Of(0, row.who, row.seated) != nil; got != row.want {
			t.Errorf("%s: kept out %t, want %t", row.name, got, row.want)
		}
	}
}

// The ban of a guest ends the connections of guests only.
func TestBanOfAnAddress(t *testing.T) {
	b := For(Person{Subject: "g", Address: "home", Guest: true})
	if !b.Concerns(Person{Subject: "h", Address: "home", Guest: true}) || b.Concerns(Person{Subject: "p", Address: "home"}) {
		t.Error("a player is banned with the guests of its address, or these are not")
	}
}

// A kick does not shorten a ban. Each change counts, and what expires does not.
func TestChanges(t *testing.T) {
	var b Table
	who := Person{Subject: "s"}
	if err := b.Add(0, Ban{Subject: "s", Until: 100, Reason: "cheats"}); err != nil {
		t.Fatal(err)
	}
	b.KeepOut(0, 50, who, "kicked")
	if of := b.Of(50, who, false); of == nil || of.Text(50) != "banned for 1 s: cheats" {
		t.Errorf("after a kick: got %v", of)
	}
	b.KeepOut(50, 200, who, "kicked")
	if b.Remove(50, Ban{Subject: "other"}) || len(b.List(199)) != 1 || len(b.List(200)) != 0 || b.Remove(200, Ban{Subject: "s"}) || b.Changes != 2 {
		t.Errorf("got %v, %d changes", b.List(0), b.Changes)
	}
	if err := b.Add(200, Ban{Subject: "s"}); err != nil || !b.Remove(200, Ban{Subject: "s"}) || b.Changes != 4 {
		t.Errorf("got %v, %d changes", err, b.Changes)
	}
}
