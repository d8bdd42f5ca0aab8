//go:build !js

package live

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// event counts the client's events.
func (j *join) event(c *player.Client, e any) {
	s := &j.summary
	switch e := e.(type) {
	case player.Welcomed:
		j.welcomed, j.refusal = true, nil
		c.SetReady(true) // nobody can say it later
		if e.Seat != lockstep.System {
			s.Seat = int(e.Seat)
			if j.bot == nil && j.flags.String("bot") == "default" && !j.flags.Bool("spectate") {
				j.bot = j.game.Bot(e.Seat, uint64(e.Seat)+1)
			}
		}
	case lockstep.Receipt:
		if e.Reason == lockstep.Accepted {
			s.Accepted++
		} else {
			s.Rejected++
		}
	case player.ConnectionLost:
		s.Losses++
	case player.ConnectFailed:
		if !j.welcomed {
			j.refusal = e.Err
		}
	case player.ServerError:
		switch {
		case j.welcomed || e.Code != protocol.ErrorRefused:
		case j.token == "":
			j.refusal = errNoToken
		default:
			j.refusal = errToken
		}
	case player.ServerClosing:
		if !j.welcomed && j.refusal == nil {
			j.refusal = fmt.Errorf("%v: %s", e.Code, e.Text)
		}
	case player.StreamResumed:
		s.Resumed++
	case player.Synced:
		s.Synced++
	case player.Desynced:
		s.Desyncs++
	case player.Mismatch:
		if !e.Agreed() && s.Seat >= 0 && e.Has(lockstep.Player(s.Seat)) {
			s.Undecided++
		}
		if j.status != nil {
			fmt.Fprintln(j.status, e)
		}
	case player.Healed:
		s.Healed++
	case player.Resimulated:
		if j.status != nil {
			fmt.Fprintf(j.status, "this machine has computed ticks %d to %d again: %v\n", e.From+1, e.To, e.Outcome)
		}
	case player.Held:
		if e.Reason != "" {
			s.Held++
		}
		j.held = heldText(e) // shown with the next status line, because a server can hold the match at any rate
	case player.HostEvent:
		if e.Event == record.EventPace && j.status != nil {
			fmt.Fprintf(j.status, "player %d: %s\n", e.Player, e.Text)
		}
	case player.Ended:
		s.Ended = e.Reason
	}
}

// heldText says why a match stands still or runs slower, for whom, and for how long.
func heldText(e player.Held) string {
	if e.Reason == "" {
		return "the match goes on"
	}
	text := e.Reason
	for i, p := range e.Players {
		sep := ", "
		if i == 0 {
			sep = ": player "
		}
		text += fmt.Sprintf("%s%d", sep, p)
	}
	if e.Until > 0 {
		text += fmt.Sprintf(", for %d s at most", max(0, e.Until-e.Since)/lockstep.Second)
	}
	return text
}

// A joinSummary is what join tells of a match.
type joinSummary struct {
	Match       string        `json:"match"`   // its id
	Session     string        `json:"session"` // see client.Session.ID
	Seat        int           `json:"seat"`    // -1 without one
	Tick        lockstep.Tick `json:"tick"`
	InputDelay  lockstep.Tick `json:"input_delay"`
	RoundTripMS float64       `json:"round_trip_ms"`
	Watched     float64       `json:"watched_seconds"`
	Stalls      perMinute     `json:"visible_stalls"`
	Corrections perMinute     `json:"corrections"`
	Rollbacks   perMinute     `json:"rollbacks"`
	LateFrames  uint64        `json:"late_frames,string"`
	Repeats     uint64        `json:"repeats,string"` // records that came again in datagrams
	LossIn      *float64      `json:"loss_in_percent,omitempty"`
	LossOut     *float64      `json:"loss_out_percent,omitempty"`
	Agreed      int           `json:"checksums_agreed"`
	Differing   int           `json:"checksums_differing"`
	Undecided   int           `json:"checksums_undecided"` // those of the players differed, and none had a majority; of several in a row the first
	Desyncs     int           `json:"desyncs"`
	Healed      int           `json:"healed"`
	Losses      int           `json:"connections_lost"`
	Resumed     int           `json:"resumed"`
	Synced      int           `json:"synced"`
	Held        int           `json:"held"` // how often the match was held
	Accepted    int           `json:"commands_accepted"`
	Rejected    int           `json:"commands_rejected"`
	BytesIn     uint64        `json:"bytes_in,string"`
	BytesOut    uint64        `json:"bytes_out,string"`
	Ended       string        `json:"ended,omitempty"`
}

// perMinute is how often something has happened, and how often in a minute of the match.
type perMinute struct {
	Count     int     `json:"count"`
	PerMinute float64 `json:"per_minute"`
}
