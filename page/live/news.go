package live

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// maxLines limits the waiting lines of news. Older ones are dropped.
const maxLines = 64

type news struct {
	words func(detail string) string // why the game refused a command; nil shows the detail as it is

	lines  []Line
	link   Link
	retry  lockstep.Time // of the next attempt
	desync Desync
	differ *Mismatch // the latest
	begun  bool
	since  lockstep.Time // of the present Held
	until  lockstep.Time
	now    func() lockstep.Time
	lostAt lockstep.Time // when the connection was lost; 0 with one
	told   string        // the reason in the last line about it
}

func (n *news) init(now func() lockstep.Time) {
	n.now = now
	n.link = Link{State: "connecting", Text: "connecting", HeldFor: []int{}}
}

func (n *news) line(sort string, player int, text string) {
	if len(n.lines) == maxLines {
		n.lines = n.lines[:copy(n.lines, n.lines[1:])]
	}
	n.lines = append(n.lines, Line{sort, player, text})
}

func (n *news) problem(text string) { n.line("problem", -1, text) }

func plain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"lockstep: client: ", "lockstep: ", "client: "} {
		text = strings.ReplaceAll(text, prefix, "")
	}
	return text
}

func (n *news) take(event any) {
	switch e := event.(type) {
	case player.Note:
		n.note(&e)
	case player.HostEvent:
		n.event(&e)
	case player.SeatChanged:
		n.seat(&e)
	case lockstep.Receipt:
		if e.Reason != lockstep.Accepted {
			n.problem("rejected: " + n.refusal(&e))
		}
	case player.Refused:
		text := "refused when it ran"
		if e.Reason != "" {
			text += ": " + n.inWords(e.Reason)
		}
		n.problem(text)
	case player.Desynced:
		planted, at, number := n.desync.Planted, n.desync.At, n.desync.Number
		if n.desync.Tick != 0 {
			planted, at = "", 0
		}
		n.desync = Desync{Planted: planted, At: at, Tick: uint32(e.Tick), Agreed: uint32(e.Agreed), Section: e.Section, Number: number + 1}
		n.line("desync", -1, fmt.Sprintf("desync: this browser's state of tick %d is wrong", e.Tick))
	case player.Mismatch:
		n.line("desync", -1, e.String())
		n.differ = &Mismatch{Tick: uint32(e.Tick)}
		for _, g := range e.Groups {
			to := Reporters{Hash: fmt.Sprintf("%016x", g.Hash), Agreed: g.Agreed, Players: []int{}}
			for _, p := range g.Players {
				to.Players = append(to.Players, int(p))
			}
			n.differ.Groups = append(n.differ.Groups, to)
		}
	case player.Explained:
		n.explained(&e)
	case player.Resimulated:
		n.desync.Again, n.desync.From = e.Outcome.String(), uint32(e.From)
		n.line("desync", -1, fmt.Sprintf("this browser has computed ticks %d to %d again: %v", e.From+1, e.To, e.Outcome))
	case player.Healed:
		n.desync.Healed = uint32(e.Tick)
		n.line("desync", -1, fmt.Sprintf("repaired: the checksums of tick %d agree again", e.Tick))
	default:
		n.connection(event)
	}
}

func (n *news) note(e *player.Note) {
	text := e.Text
	if e.Topic == record.TopicReady {
		if text = "is ready"; e.Text != record.ReadyYes {
			text = "is not ready"
		}
	}
	n.line(e.Topic, int(e.Player), text)
}

func (n *news) event(e *player.HostEvent) {
	switch e.Event {
	case record.EventReason, record.EventPresence: // a SeatChanged says both
	case record.EventLineage, record.EventSubstitute: // for programs
	case record.EventReferee:
		n.line(e.Event, -1, "the server's own state was wrong: "+e.Text)
	case record.EventResumed:
		n.line(e.Event, -1, "the match was interrupted, and goes on: "+e.Text)
	case record.EventSuspended:
		n.line(e.Event, -1, "the match is suspended: "+e.Text)
	default:
		n.line(e.Event, int(e.Player), e.Text)
	}
}

// seat tells who has come or gone, and why, but not who was there before us.
func (n *news) seat(e *player.SeatChanged) {
	var text string
	switch {
	case !n.begun || e.Presence == e.Before.Presence:
		return
	case e.Presence == player.Away:
		text = "is away"
	case e.Presence == player.TakenOver:
		text = "is taken over"
	case e.Presence == player.Vacant:
		text = "is gone"
	case e.Presence == player.Bot:
		text = "is a bot"
	case e.Presence == player.Here && e.Before.Presence == player.Vacant:
		text = "has joined"
	default:
		text = "is back"
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	n.line("seat", int(e.Player), text)
}

func (n *news) explained(e *player.Explained) {
	d := &n.desync
	d.Seen, d.Total, d.Fields = uint32(e.Tick), e.Fields.Total, nil
	if d.Section == "" {
		d.Section = e.Section
	}
	for _, f := range e.Fields.List {
		d.Fields = append(d.Fields, Field{f.Path, f.A, f.B})
	}
}

func (n *news) refusal(r *lockstep.Receipt) string {
	if r.Detail == "" {
		return r.Reason.String()
	}
	return n.inWords(r.Detail)
}

func (n *news) inWords(detail string) string {
	if n.words != nil {
		return n.words(detail)
	}
	return detail
}

func (n *news) connection(event any) {
	l := &n.link
	switch e := event.(type) {
	case player.Dialing:
		l.State, l.Text, l.Attempt, n.retry = "connecting", "connecting", e.Attempt, 0
		if e.Attempt > 0 {
			l.State, l.Text = "lost", fmt.Sprintf("attempt %d", e.Attempt)
		}
	case player.Connected:
		l.State, l.Text = "joining", "connected"
		l.Held, l.Hold, l.HeldFor, l.Lobby, n.until, n.told = "", "", []int{}, false, 0, ""
	case player.Welcomed:
		n.lostAt = 0
		l.State, l.Text, l.Attempt = "syncing", "waiting for the state", 0
	case player.StreamResumed:
		l.State, l.Text = "live", "resumed"
		n.line("link", -1, fmt.Sprintf("reconnected at tick %d", e.Tick))
	case player.SyncProgress:
		l.State = "syncing"
		l.Bytes, l.Total, l.Tick, l.Target = e.Bytes, e.TotalBytes, uint32(e.Tick), uint32(e.Target)
		l.Text = fmt.Sprintf("catching up: tick %d of %d", e.Tick, e.Target)
		if e.TotalBytes > 0 {
			l.Text = fmt.Sprintf("loading the state: %d of %d KiB", e.Bytes>>10, e.TotalBytes>>10)
		}
	case player.Synced:
		l.State, l.Text = "live", "live"
		if !n.begun && e.Tick > 0 { // or else it has just begun
			n.line("link", -1, fmt.Sprintf("joined at tick %d", e.Tick))
		}
		n.begun = true
	case player.ConnectionLost:
		l.State, l.Text = "lost", plain(e.Err)
		l.Losses++
		if n.lostAt == 0 {
			n.lostAt = n.now()
		}
		n.line("link", -1, "disconnected")
	case player.ConnectFailed:
		l.Text = plain(e.Err)
	case player.Retrying:
		l.Attempt, n.retry = e.Attempt, e.At
	case player.Held:
		n.held(&e)
	case player.Ended:
		l.State, l.Text = "ended", e.Reason
	case player.ServerError:
		n.refused(&e)
	case player.ServerClosing:
		n.closing(&e)
	case player.LostForGood:
		n.lost(e.Err)
	}
}

// held shows why the match stands still or is slower. What passes by itself, such as a short silence, makes no line.
func (n *news) held(e *player.Held) {
	l := &n.link
	l.Text, l.Held, l.HeldFor, l.Lobby, n.since, n.until = "live", e.Reason, []int{}, e.InLobby(), e.Since, e.Until
	var known bool
	if l.Hold, known = holds[e.Reason]; !known {
		l.Hold = "server"
	}
	for _, p := range e.Players {
		l.HeldFor = append(l.HeldFor, int(p))
	}
	if e.Reason != "" {
		l.Text = "the match is on hold: " + e.Reason
	}
	if e.Reason == n.told || e.Reason == player.LinkStalled {
		return
	}
	before := player.Held{Reason: n.told}
	switch n.told = e.Reason; {
	case e.Reason == "" && before.Reason == protocol.LobbyBegins: // there is a line of that
	case e.Reason == "" && before.InLobby():
		n.line("link", -1, protocol.LobbyBegins)
	case e.Reason == "":
		n.line("link", -1, "the match goes on")
	case e.InLobby():
		n.line("link", -1, e.Reason)
	default:
		n.line("link", -1, l.Text)
	}
}

func (n *news) refused(e *player.ServerError) {
	switch e.Code {
	case protocol.ErrorRefused:
		n.link.Refused = true
		n.link.Text = "This match needs a token, and the server does not know yours. Ask the operator of the server for one."
	case protocol.ErrorFull:
		n.link.Text = "All seats of this match are taken. You can spectate."
	case protocol.ErrorIdentity:
		n.link.Text = fmt.Sprintf("This page and the server have different versions: %s differs (%s). Reload the page.", e.Field, e.Text)
	case protocol.ErrorMalformed:
		n.link.Text = "The server does not understand this page: " + e.Text
	case protocol.ErrorInactive:
		n.problem(e.Text)
		return
	default:
		if e.Code == protocol.ErrorRole && e.Field == "views" {
			n.link.Views = true // the end of the connection follows
		}
		n.problem(fmt.Sprintf("%v: %s", e.Code, e.Text))
		return
	}
	n.link.State = "failed"
}

func (n *news) closing(e *player.ServerClosing) {
	if e.RetryAfter > 0 {
		n.line("link", -1, "the server closes the connection: "+e.Text)
		return
	}
	words := map[protocol.CloseCode]string{
		protocol.CloseLeft:     "You have left the match.",
		protocol.CloseReplaced: "You have joined from another window.",
		protocol.CloseKicked:   "You were kicked: ",
		protocol.CloseBanned:   "You cannot join this match: ",
		protocol.CloseEnded:    "The match is over: ",
		protocol.CloseShutdown: "The server has shut down: ",
		protocol.CloseInactive: "You have lost your seat: ",
	}[e.Code]
	switch {
	case words == "":
		words = fmt.Sprintf("The server has ended the connection (%v): %s", e.Code, e.Text)
	case strings.HasSuffix(words, ": "):
		words += e.Text
	}
	if n.link.State == "ended" {
		return // the reason is shown already
	}
	n.link.Text, n.link.State = words, "failed"
	if e.Code == protocol.CloseEnded || e.Code == protocol.CloseLeft {
		n.link.State = "ended"
	}
}

// lost shows why the client has given up, unless the server gave a reason.
func (n *news) lost(err error) {
	if n.link.State == "failed" || n.link.State == "ended" {
		return
	}
	n.link.State = "failed"
	n.link.GaveUp = errors.Is(err, player.ErrGaveUp)
	n.link.Text = "Reconnecting failed: " + plain(err)
	if !n.begun && n.link.GaveUp {
		n.link.Text = "Cannot join the match: " + plain(err)
	}
}

func (n *news) corrupted(at lockstep.Tick, path string) {
	n.desync = Desync{Planted: path, At: uint32(at), Number: n.desync.Number}
	n.line("desync", -1, fmt.Sprintf("changed %s in this browser", path))
}
