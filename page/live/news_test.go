package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The link after events of the connection. Each row begins with a live connection.
func TestConnectionInWords(t *testing.T) {
	began := []any{player.Dialing{}, player.Connected{}, player.Welcomed{}, player.Synced{Tick: 7}}
	for _, row := range []struct {
		events      []any
		state, text string
	}{
		{nil, "live", "live"},
		{[]any{player.SyncProgress{Bytes: 2048, TotalBytes: 4096}}, "syncing", "2 of 4 KiB"},
		{[]any{player.SyncProgress{Tick: 5, Target: 9}}, "syncing", "tick 5 of 9"},
		{[]any{player.ConnectionLost{Err: errors.New("lockstep: client: gone")}, player.Retrying{Attempt: 3}}, "lost", "gone"},
		{[]any{player.ConnectionLost{Err: errors.New("x")}, player.Dialing{Attempt: 3}}, "lost", "attempt 3"},
		{[]any{player.StreamResumed{Tick: 9}}, "live", "resumed"},
		{[]any{player.Ended{Reason: "won"}, player.ServerClosing{Code: protocol.CloseEnded, Text: "over"}}, "ended", "won"},
		{[]any{player.ServerClosing{Code: protocol.CloseEnded, Text: "by an admin"}}, "ended", "by an admin"},
		{[]any{player.ServerClosing{Code: protocol.CloseLeft}}, "ended", "left"},
		{[]any{player.ServerClosing{Code: protocol.CloseReplaced}}, "failed", "another window"},
		{[]any{player.ServerClosing{Code: protocol.CloseKicked, Text: "rude"}}, "failed", "kicked: rude"},
		{[]any{player.ServerClosing{Code: protocol.CloseBanned, Text: "banned for 60 s"}}, "failed", "cannot join this match: banned for 60 s"},
		{[]any{player.ServerClosing{Code: protocol.CloseInactive, Text: "no command"}}, "failed", "lost your seat: no command"},
		{[]any{player.ServerError{Code: protocol.ErrorInactive, Text: "give one"}}, "live", "live"},
		{[]any{player.ServerClosing{Code: protocol.CloseAbuse, Text: "flood"}}, "failed", "abuse): flood"},
		{[]any{player.ServerClosing{Code: protocol.CloseShutdown, RetryAfter: lockstep.Second}}, "live", "live"},
		{[]any{player.ServerError{Code: protocol.ErrorLimit, Text: "slower"}}, "live", "live"},
		{[]any{player.ServerError{Code: protocol.ErrorMalformed, Text: "what?"}}, "failed", "does not understand this page: what?"},
		{[]any{player.Held{Reason: "the disk is full"}}, "live", "on hold: the disk is full"},
		{[]any{player.Held{Reason: "the disk is full"}, player.Held{}}, "live", "live"},
		{[]any{player.Held{Reason: "the disk is full"}, player.ConnectionLost{Err: errors.New("x")}, player.Connected{}}, "joining", "connected"},
		{[]any{player.LostForGood{Err: fmt.Errorf("%w: x", player.ErrGaveUp)}}, "failed", "Reconnecting failed"},
		{[]any{player.ServerError{Code: protocol.ErrorRefused}}, "failed", "does not know yours"},
		{[]any{player.ServerError{Code: protocol.ErrorFull}, player.LostForGood{Err: errors.New("full")}}, "failed", "All seats"},
	} {
		var n news
		n.init(func() lockstep.Time { return 1 })
		for _, e := range append(began[:len(began):len(began)], row.events...) {
			n.take(e)
		}
		if n.link.State != row.state || !strings.Contains(n.link.Text, row.text) {
			t.Errorf("%v: got %q: %q, want %q: %q", row.events, n.link.State, n.link.Text, row.state, row.text)
		}
		if want := strings.Contains(row.text, "on hold"); n.link.Held != "" != want {
			t.Errorf("%v: on hold: got %q, want %v", row.events, n.link.Held, want)
		}
		if want := strings.Contains(row.text, "does not know yours"); n.link.Refused != want {
			t.Errorf("%v: the token is refused: got %v, want %v", row.events, n.link.Refused, want)
		}
	}
}

// News is limited, and names the player.
func TestNews(t *testing.T) {
	var n news
	n.init(func() lockstep.Time { return 1 })
	n.take(player.Note{Player: 3, Topic: record.TopicChat, Text: "hi"})
	n.take(lockstep.Receipt{Reason: lockstep.Accepted})
	n.take(lockstep.Receipt{Reason: lockstep.Refused, Detail: "game: that costs more than you have: 3"})
	n.words = func(detail string) string { return strings.TrimPrefix(detail, "game: ") }
	n.take(lockstep.Receipt{Reason: lockstep.Refused, Detail: "game: too far"})
	n.take(lockstep.Receipt{Reason: lockstep.TooMany})
	n.take(player.Refused{Sequence: 2, Tick: 9, Reason: "game: no money left"})
	n.take(player.Refused{Sequence: 3, Tick: 9})
	n.take(player.ServerError{Code: protocol.ErrorInactive, Text: "give a command"})
	n.line("game", 2, "is defeated")
	n.take(player.Note{Player: 1, Topic: record.TopicReady, Text: record.ReadyYes})
	n.take(player.HostEvent{Player: 1, Event: record.EventSubstitute, Text: "from command 5"})
	n.take(player.HostEvent{Player: lockstep.System, Event: record.EventResumed, Text: "after tick 5"})
	want := []Line{
		{"chat", 3, "hi"}, {"problem", -1, "rejected: game: that costs more than you have: 3"}, {"problem", -1, "rejected: too far"},
		{"problem", -1, "rejected: " + lockstep.TooMany.String()}, {"problem", -1, "refused when it ran: no money left"},
		{"problem", -1, "refused when it ran"}, {"problem", -1, "give a command"}, {"game", 2, "is defeated"},
		{"ready", 1, "is ready"}, {"resumed", -1, "the match was interrupted, and goes on: after tick 5"},
	}
	if fmt.Sprint(n.lines) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", n.lines, want)
	}
	for i := range 2 * maxLines {
		n.problem(fmt.Sprint(i))
	}
	if len(n.lines) != maxLines || n.lines[maxLines-1].Text != fmt.Sprint(2*maxLines-1) {
		t.Errorf("%d lines, the last %v", len(n.lines), n.lines[len(n.lines)-1])
	}
}

// A match that begins says so once. Only one that stood still goes on.
func TestMatchBeginsInNews(t *testing.T) {
	awaited, begins, slow := player.Held{Reason: protocol.LobbyPlayers}, player.Held{Reason: protocol.LobbyBegins}, player.Held{Reason: protocol.HeldForSlow}
	for _, row := range []struct {
		events []any
		want   []string
	}{
		{[]any{player.Connected{}, awaited, player.Synced{}, player.Held{}}, []string{protocol.LobbyPlayers, protocol.LobbyBegins}},
		{[]any{player.Connected{}, awaited, player.Synced{}, begins, player.Held{}}, []string{protocol.LobbyPlayers, protocol.LobbyBegins}},
		{[]any{player.Connected{}, player.Synced{Tick: 7}, slow, player.Held{}}, []string{"joined at tick 7", "the match is on hold: " + protocol.HeldForSlow, "the match goes on"}},
	} {
		var n news
		n.init(func() lockstep.Time { return 1 })
		for _, e := range row.events {
			n.take(e)
		}
		var got []string
		for _, l := range n.lines {
			got = append(got, l.Text)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%v: got %q, want %q", row.events, got, row.want)
		}
	}
}

// Everybody who comes or goes makes a line, with the reason. Those who were there before us make none.
func TestSeatsInNews(t *testing.T) {
	at := func(p player.Presence) player.Seat { return player.Seat{Player: 1, Name: "ann", Presence: p} }
	var n news
	n.init(func() lockstep.Time { return 1 })
	n.take(player.SeatChanged{Seat: at(player.Here), Before: at(player.Vacant)})
	n.take(player.Synced{Tick: 7})
	n.lines = nil
	for _, e := range []any{
		player.SeatChanged{Seat: at(player.Away), Before: at(player.Here), Reason: "the connection ended"},
		player.HostEvent{Player: 1, Event: record.EventReason, Text: "did not come back"},
		player.SeatChanged{Seat: at(player.TakenOver), Before: at(player.Away), Reason: "did not come back"},
		player.SeatChanged{Seat: at(player.Here), Before: at(player.TakenOver)},
		player.SeatChanged{Seat: player.Seat{Player: 1, Name: "Ann", Presence: player.Here}, Before: at(player.Here)},
		player.SeatChanged{Seat: at(player.Vacant), Before: at(player.Here), Reason: "left: tired"},
		player.SeatChanged{Seat: at(player.Here), Before: at(player.Vacant)},
		player.SeatChanged{Seat: at(player.Bot), Before: at(player.Vacant)},
	} {
		n.take(e)
	}
	want := []Line{
		{"seat", 1, "is away: the connection ended"}, {"seat", 1, "is taken over: did not come back"}, {"seat", 1, "is back"},
		{"seat", 1, "is gone: left: tired"}, {"seat", 1, "has joined"}, {"seat", 1, "is a bot"},
	}
	if fmt.Sprint(n.lines) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", n.lines, want)
	}
}

// A second desync is separate: the planted fault belongs to the first one.
func TestDesyncStory(t *testing.T) {
	var n news
	n.corrupted(5, "Units[1].Health")
	n.take(player.Desynced{Tick: 20, Agreed: 10})
	n.take(player.Explained{Tick: 25, Section: "Units"})
	n.take(player.Resimulated{From: 10, To: 20, Outcome: protocol.RightThisTime})
	n.take(player.Healed{Tick: 40})
	if d := n.desync; d.Again != "right this time" || d.From != 10 || d.Planted == "" || d.At != 5 || d.Tick != 20 || d.Agreed != 10 || d.Section != "Units" || d.Seen != 25 || d.Healed != 40 || d.Number != 1 {
		t.Errorf("the first: %+v", d)
	}
	n.take(player.Desynced{Tick: 60, Section: "Rand"})
	if d := n.desync; d.Again != "" || d.Planted != "" || d.Tick != 60 || d.Section != "Rand" || d.Seen != 0 || d.Healed != 0 || d.Number != 2 {
		t.Errorf("the second: %+v", d)
	}
}
