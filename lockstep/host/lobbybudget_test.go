package host_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// In a lobby, clients of many addresses come and go, say that they are ready and why they leave, and chat. The notes are within
// the budgets of the subjects, a player is not harmed, and the match then begins with the players who are there.
func TestLobbyFlood(t *testing.T) {
	const most = 64 << 10
	for _, addresses := range []int{1, 50} {
		p := newParty(t, func(s *lockstep.Settings) { s.Players = 3 }, func(o *host.Options) {
			o.Start, o.MaxNoteBytes = host.StartPolicy{Ready: true}, most
		})
		book := newNoteBook(p)
		a, b := p.join("a", "p0"), p.join("b", "p1")
		line := strings.Repeat("x", 900)
		const seconds = 60
		for i := range seconds * 20 {
			g := p.guest("attacker", fmt.Sprint("free-", i))
			g.addr = fmt.Sprint("address ", i%addresses)
			g.connect()
			p.deliver()
			for _, m := range []protocol.Message{{Kind: protocol.KindReady, Ready: true}, {Kind: protocol.KindReady}, {Kind: protocol.KindChat, Text: line}, {Kind: protocol.KindLeave, Text: line}} {
				if g.id != 0 {
					g.send(&m)
				}
			}
			p.deliver()
			p.guests = p.guests[:2]
			p.pass(50 * lockstep.Millisecond)
		}
		returns := min(seconds*20, 160*(seconds/60+1)*addresses)
		if n := 64 + 16*(seconds+1) + 2*returns; book.notes > n || book.bytes > most || book.notes < 100 {
			t.Errorf("%d addresses: got %d notes of %d bytes, want at most %d of %d", addresses, book.notes, book.bytes, n, most)
		}
		c := p.join("c", "p2")
		for _, g := range []*guest{a, b, c} {
			g.send(&protocol.Message{Kind: protocol.KindReady, Ready: true})
		}
		p.pass(2 * lockstep.Second)
		if p.h.Status().InLobby || p.h.Now() < 10 {
			t.Errorf("%d addresses: tick %d, want the match to have begun", addresses, p.h.Now())
		}
		p.unharmed(t, a, b, c)
	}
}

func TestLobbyOptions(t *testing.T) {
	game, header := testgame.NewBankMatch(t, 2)
	for want, o := range map[string]host.Options{
		"start countdown: got ": {Start: host.StartPolicy{Ready: true, Countdown: 3601 * lockstep.Second}},
		"start players: got 3":  {Start: host.StartPolicy{Players: 3}},
		"chat history: got 257": {ChatHistory: 257},
	} {
		o.Random = func([]byte) {}
		if _, err := host.New(game, header, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

// A joiner is told the last lines of chat, as many as the options say, of at most 2 KiB.
func TestChatHistory(t *testing.T) {
	for _, c := range []struct{ most, length, want int }{
		{0, 10, 16}, {3, 10, 3}, {100, 10, 40}, {-1, 10, 0}, {0, 1000, 2}, {0, 496, 4}, {0, 497, 3},
	} {
		p := newParty(t, nil, func(o *host.Options) {
			o.ChatHistory, o.KeyframeInterval = c.most, 1
			o.Rates.Chat = host.Rate{N: 100, Per: lockstep.Second, Burst: 100}
			o.Rates.Notes = o.Rates.Chat
		})
		a := p.join("a", "p0")
		p.pass(lockstep.Second)
		var lines []string
		for i := range 40 {
			lines = append(lines, fmt.Sprintf("%d%*d", i%10, c.length-1, i))
			a.send(&protocol.Message{Kind: protocol.KindChat, Text: lines[i]})
		}
		p.pass(lockstep.Second)
		b := p.join("b", "p1")
		p.pass(lockstep.Second)
		var told []string
		var dec record.Decoder
		for rest := b.chunks; len(rest) > 0; {
			rec, after, err := dec.Decode(rest)
			if err != nil {
				t.Fatal(err)
			}
			if rest = after; rec.Kind == record.KindNote && rec.Topic == record.TopicChat {
				told = append(told, rec.Text)
			}
		}
		if want := lines[len(lines)-c.want:]; !slices.Equal(told, want) {
			t.Errorf("%+v: got %d lines, want the last %d", c, len(told), c.want)
		}
	}
}
