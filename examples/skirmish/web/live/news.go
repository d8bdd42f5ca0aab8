package live

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// maxLines is how many lines of news wait to be shown. Older ones are dropped.
const maxLines = 64

// A Line is a piece of news.
type Line struct {
	Sort   string `json:"sort"`   // "chat", "problem", "game", "link", "desync", "name" or "pace"
	Player int    `json:"player"` // who wrote it, or whom it is about; -1 for nobody
	Text   string `json:"text"`
}

// A Link is how the connection does.
type Link struct {
	State   string `json:"state"` // "connecting", "joining", "syncing", "live", "lost", "ended" or "failed"
	Text    string `json:"text"`
	Attempt int    `json:"attempt"`  // after a loss
	RetryMS int64  `json:"retry_ms"` // to the next attempt
	Bytes   uint32 `json:"bytes"`    // of the state that is arriving
	Total   uint32 `json:"total"`
	Tick    uint32 `json:"tick"`   // of the state that catches up
	Target  uint32 `json:"target"` // what it catches up with
	Losses  int    `json:"losses"`
	Held    string `json:"held"`    // why the match stands still; "" if it does not
	Refused bool   `json:"refused"` // the server does not know the token
}

// A Desync is what is known of this client's last desync.
type Desync struct {
	Planted string  `json:"planted"` // what was changed on purpose; "" for nothing
	At      uint32  `json:"at"`      // when that was
	Tick    uint32  `json:"tick"`    // the check that differed; 0 before
	Agreed  uint32  `json:"agreed"`  // the last one that did not, as far as it is known
	Section string  `json:"section"` // the first that differs; "" if it is not known
	Seen    uint32  `json:"seen"`    // the tick at which both states were compared; 0 before
	Fields  []Field `json:"fields"`  // that differed then, the first of them
	Total   int     `json:"total"`   // of fields that differed then
	Healed  uint32  `json:"healed"`  // the check that agreed again; 0 before
	Number  int     `json:"number"`  // of desyncs so far
}

// A Field is a field that differed.
type Field struct {
	Path   string `json:"path"`
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
}

// news is what there is to tell.
type news struct {
	lines  []Line
	link   Link
	retry  lockstep.Time // when the next attempt is
	desync Desync
	begun  bool
}

func (n *news) init() { n.link = Link{State: "connecting", Text: "connecting"} }

func (n *news) line(sort string, player int, text string) {
	if len(n.lines) == maxLines {
		n.lines = n.lines[:copy(n.lines, n.lines[1:])]
	}
	n.lines = append(n.lines, Line{sort, player, text})
}

func (n *news) problem(text string) { n.line("problem", -1, text) }

// plain returns an error without the names of packages.
func plain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"lockstep: client: ", "lockstep: ", "client: "} {
		text = strings.ReplaceAll(text, prefix, "")
	}
	return text
}

// take takes an event of the session.
func (n *news) take(event any) {
	switch e := event.(type) {
	case player.Note:
		sort := e.Topic // "chat", "name" or "pace"
		n.line(sort, int(e.Player), e.Text)
	case lockstep.Receipt:
		if e.Reason != lockstep.Accepted {
			n.problem("not done: " + refusal(&e))
		}
	case player.Desynced:
		planted, at, number := n.desync.Planted, n.desync.At, n.desync.Number
		if n.desync.Tick != 0 {
			planted, at = "", 0
		}
		n.desync = Desync{Planted: planted, At: at, Tick: uint32(e.Tick), Agreed: uint32(e.Agreed), Section: e.Section, Number: number + 1}
		n.line("desync", -1, fmt.Sprintf("desync: this state of tick %d is not the match's", e.Tick))
	case player.Explained:
		n.explained(&e)
	case player.Healed:
		n.desync.Healed = uint32(e.Tick)
		n.line("desync", -1, fmt.Sprintf("healed: the checksums of tick %d agree again", e.Tick))
	default:
		n.connection(event)
	}
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

// refusal says why a command was not accepted.
func refusal(r *lockstep.Receipt) string {
	if r.Detail != "" {
		return play.Words(r.Detail)
	}
	return r.Reason.String()
}

// connection takes an event of the connection.
func (n *news) connection(event any) {
	l := &n.link
	switch e := event.(type) {
	case player.Dialing:
		l.State, l.Text, l.Attempt, n.retry = "connecting", "connecting", e.Attempt, 0
		if e.Attempt > 0 {
			l.State, l.Text = "lost", fmt.Sprintf("attempt %d", e.Attempt)
		}
	case player.Connected:
		l.State, l.Text, l.Held = "joining", "connected", ""
	case player.Welcomed:
		l.State, l.Text, l.Attempt = "syncing", "waiting for the state", 0
	case player.StreamResumed:
		l.State, l.Text = "live", "resumed"
		n.line("link", -1, fmt.Sprintf("resumed at tick %d", e.Tick))
	case player.SyncProgress:
		l.State = "syncing"
		l.Bytes, l.Total, l.Tick, l.Target = e.Bytes, e.TotalBytes, uint32(e.Tick), uint32(e.Target)
		l.Text = fmt.Sprintf("catching up: tick %d of %d", e.Tick, e.Target)
		if e.TotalBytes > 0 {
			l.Text = fmt.Sprintf("the state: %d of %d KiB", e.Bytes>>10, e.TotalBytes>>10)
		}
	case player.Synced:
		l.State, l.Text = "live", "live"
		if !n.begun {
			n.line("link", -1, fmt.Sprintf("joined at tick %d", e.Tick))
		}
		n.begun = true
	case player.ConnectionLost:
		l.State, l.Text = "lost", plain(e.Err)
		l.Losses++
		n.line("link", -1, "connection lost")
	case player.Retrying:
		l.Attempt, n.retry = e.Attempt, e.At
	case player.Held:
		l.Text, l.Held = "live", e.Reason
		if e.Reason == "" {
			n.line("link", -1, "the match goes on")
			return
		}
		l.Text = "the match stands still: " + e.Reason
		n.line("link", -1, l.Text)
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

// refused says in words what the server did not like.
func (n *news) refused(e *player.ServerError) {
	switch e.Code {
	case protocol.ErrorRefused:
		n.link.Refused = true
		n.link.Text = "You need a token here, and the server does not know yours. Whoever runs the server has one for each seat."
	case protocol.ErrorFull:
		n.link.Text = "All seats of this match are taken. You can watch it."
	case protocol.ErrorIdentity:
		n.link.Text = fmt.Sprintf("This page is of another version than the server: %s differs (%s). Load the page again.", e.Field, e.Text)
	case protocol.ErrorMalformed:
		n.link.Text = "The server does not understand this page: " + e.Text
	default:
		n.problem(fmt.Sprintf("%v: %s", e.Code, e.Text))
		return
	}
	n.link.State = "failed"
}

// closing says in words why the server ends the connection for good.
func (n *news) closing(e *player.ServerClosing) {
	if e.RetryAfter > 0 {
		n.line("link", -1, "the server closes the connection: "+e.Text)
		return
	}
	words := map[protocol.CloseCode]string{
		protocol.CloseLeft:     "You have left the match.",
		protocol.CloseReplaced: "This seat is played from another window now.",
		protocol.CloseKicked:   "You were removed from the match: ",
		protocol.CloseBanned:   "You are kept out of the match: ",
		protocol.CloseEnded:    "The match is over: ",
		protocol.CloseShutdown: "The server was shut down: ",
	}[e.Code]
	switch {
	case words == "":
		words = fmt.Sprintf("The server has ended the connection (%v): %s", e.Code, e.Text)
	case strings.HasSuffix(words, ": "):
		words += e.Text
	}
	if n.link.State == "ended" {
		return // and the match has said why
	}
	n.link.Text, n.link.State = words, "failed"
	if e.Code == protocol.CloseEnded || e.Code == protocol.CloseLeft {
		n.link.State = "ended"
	}
}

// lost says why the client has given up, unless the server has said it.
func (n *news) lost(err error) {
	if n.link.State == "failed" || n.link.State == "ended" {
		return
	}
	n.link.State = "failed"
	n.link.Text = "The connection could not be made again: " + plain(err)
	if !n.begun && errors.Is(err, player.ErrGaveUp) {
		n.link.Text = "The match cannot be joined: " + plain(err)
	}
}

func (n *news) corrupted(at lockstep.Tick, path string) {
	n.desync = Desync{Planted: path, At: uint32(at), Number: n.desync.Number}
	n.line("desync", -1, "changed "+path+" of this state")
}

// report takes an event of the game that people want to read.
func (n *news) report(event any) {
	switch e := event.(type) {
	case skirmish.PlayerDefeated:
		n.line("game", int(e.Player), "is defeated")
	case skirmish.MatchWon:
		n.line("game", -1, fmt.Sprintf("team %d has won", e.Team+1))
	case skirmish.BuildingDone:
		n.line("built", int(e.Owner), e.Kind.String()+" complete")
	}
}
