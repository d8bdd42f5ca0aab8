package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// noteBook counts the notes of a party's log.
type noteBook struct {
	notes, bytes int
	names        []string // in the log at last, by seat
	chat         map[string]int
}

func newNoteBook(p *party) *noteBook {
	b := &noteBook{names: make([]string, p.header.Settings.Players), chat: map[string]int{}}
	var dec record.Decoder
	take := func(raw []byte) {
		r, _, err := dec.Decode(append([]byte(nil), raw...))
		if err != nil {
			p.t.Fatal(err)
		}
		if r.Kind != record.KindNote {
			return
		}
		b.notes++
		b.bytes += len(r.Text)
		switch r.Topic {
		case record.TopicName:
			b.names[r.Player] = r.Text
		case record.TopicChat:
			b.chat[r.Text]++
		}
	}
	for _, record := range p.early {
		take(record)
	}
	p.record = take
	return b
}

// Guests that come back again and again, each time with a new name, and send long lines of chat, do not fill the log.
// Peers keep up with it, the file has a bounded size, and players with tokens still chat and have their names.
func TestHostNoteFlood(t *testing.T) {
	for _, addresses := range []int{1, 50} {
		p := newParty(t, func(s *lockstep.Settings) { s.Players = 3 }, func(o *host.Options) {
			o.Rates.Returns = host.Rate{N: 1000, Per: lockstep.Second, Burst: 1000}
			o.SpectatorChat, o.AnonymousSpectators = true, true
		})
		book := newNoteBook(p)
		a, b := p.join("a", "p0"), p.join("b", "p1")
		line := strings.Repeat("x", 900)
		const seconds = 25
		rate := lockstep.Time(40)
		if testenv.Small(t) {
			rate = 16
		}
		for i := range seconds * int(rate) { // an attacker's joins
			g := p.guest("attacker", fmt.Sprint("free-", i))
			if i%2 == 1 {
				g.auth.Token = ""
			}
			g.addr = fmt.Sprint("address ", i%addresses)
			g.connect()
			p.deliver()
			for range 5 {
				g.send(&protocol.Message{Kind: protocol.KindChat, Text: line})
			}
			if g.id != 0 {
				g.send(&protocol.Message{Kind: protocol.KindLeave})
			}
			p.deliver()
			p.guests = p.guests[:2]
			p.pass(lockstep.Second / rate)
		}
		a.send(&protocol.Message{Kind: protocol.KindChat, Text: "hello"})
		c := p.join("c", "p2")
		p.pass(lockstep.Second)
		p.unharmed(t, a, b)
		each := min(8*addresses, 16) // a second; an address has 8
		if most := 64 + each*(seconds+1) + 4; book.notes > most || book.bytes > most*900 {
			t.Errorf("%d addresses: got %d notes of %d bytes, want at most %d", addresses, book.notes, book.bytes, most)
		}
		if book.notes < 200 || book.chat["hello"] != 1 || fmt.Sprint(book.names) != "[p0 p1 p2]" || c.id == 0 {
			t.Errorf("%d addresses: %d notes, names %v, the player's line %d times", addresses, book.notes, book.names, book.chat["hello"])
		}
	}
}

// If a player changes its name again and again, the log soon has the last one.
func TestHostNames(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) {
		o.Rates.Returns = host.Rate{N: 1000, Per: lockstep.Second, Burst: 1000}
	})
	book := newNoteBook(p)
	for i := range 200 {
		g := p.join("a", fmt.Sprint("free-", i))
		if i < 199 {
			g.send(&protocol.Message{Kind: protocol.KindLeave})
		}
		p.deliver()
	}
	if book.notes > 33 || book.names[0] == "199" {
		t.Errorf("%d notes at once, the last of %q", book.notes, book.names[0])
	}
	p.pass(lockstep.Second)
	if book.names[0] != "199" || book.notes > 34 {
		t.Errorf("%d notes, the last of %q, want 199", book.notes, book.names[0])
	}
	if p.h.Stats().Peers[host.Closed] != 0 {
		t.Error("a connection is left")
	}
}

// The size of a match's notes is bounded, even across a crash.
func TestHostNoteBytes(t *testing.T) {
	var options host.Options
	p := newParty(t, nil, func(o *host.Options) {
		o.MaxNoteBytes = 100
		options = *o
	})
	book := newNoteBook(p)
	records, count := append([][]byte(nil), p.early...), p.record
	p.record = func(record []byte) {
		records = append(records, append([]byte(nil), record...))
		count(record)
	}
	a := p.join("a", "p0") // 18 bytes
	for i := range 4 {
		a.send(&protocol.Message{Kind: protocol.KindChat, Text: fmt.Sprint("0123456789abcde", i)})
		p.pass(lockstep.Second)
	}
	if len(book.chat) != 2 || a.errors[protocol.ErrorLimit] != 2 || p.h.Stats().Offences != 0 {
		t.Errorf("%d lines, %d errors, %d offences", len(book.chat), a.errors[protocol.ErrorLimit], p.h.Stats().Offences)
	}
	again := host.NewRecovery(p.game)
	for _, record := range records {
		if err := again.Append(record); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if p.h, err = again.Host(p.now, options); err != nil {
		t.Fatal(err)
	}
	a = p.join("a", "p0")
	a.send(&protocol.Message{Kind: protocol.KindChat, Text: "after the crash"})
	if p.pass(lockstep.Second); a.errors[protocol.ErrorLimit] != 1 {
		t.Errorf("after a crash a full match takes more: errors %v", a.errors)
	}
}

// The log has the name of the player in a seat, even if the previous one left before a crash: a newcomer without a name
// does not inherit one.
func TestHostNamesAfterCrash(t *testing.T) {
	for _, crash := range []bool{false, true} {
		var options host.Options
		p := newParty(t, nil, func(o *host.Options) { options = *o })
		book := newNoteBook(p)
		records, count := append([][]byte(nil), p.early...), p.record
		p.record = func(record []byte) {
			records = append(records, append([]byte(nil), record...))
			count(record)
		}
		a := p.join("a", "p0")
		p.pass(lockstep.Second)
		a.send(&protocol.Message{Kind: protocol.KindLeave})
		p.pass(lockstep.Second)
		if crash {
			again := host.NewRecovery(p.game)
			for _, record := range records {
				if err := again.Append(record); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if p.h, err = again.Host(p.now, options); err != nil {
				t.Fatal(err)
			}
		}
		b := p.join("b", "any-b")
		p.pass(lockstep.Second)
		if b.welcome == nil || b.welcome.Seat != 0 || book.notes < 2 || book.names[0] != "" {
			t.Errorf("crash %t: the log has %d notes, and calls the newcomer %q", crash, book.notes, book.names[0])
		}
	}
}
