package lobby

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
)

// The scripts in testdata are lobbies without connections: only who is there.
func TestLobbyScripts(t *testing.T) {
	script.Run(t, "testdata/*.txt", func(t *testing.T) script.Interpreter {
		return (&room{t: t}).run
	})
}

// A room is a lobby that a script fills. Its accounts are real.
type room struct {
	t      *testing.T
	l      *Lobby
	ledger *budget.Ledger
	tabs   []budget.Tab
	seats  []Seat
	now    lockstep.Time
}

func seconds(s *script.Step, name string) lockstep.Time {
	return lockstep.Time(s.UintOr(name, 32, 0)) * lockstep.Second
}

func (r *room) run(s *script.Step) string {
	p := lockstep.Player(s.UintOr("p", 8, 0))
	switch s.Verb {
	case "lobby":
		r.begin(s)
	case "join": // guests of one address share an account
		r.ledger.Welcome(r.now, &r.tabs[p], budget.Holder{Subject: fmt.Sprint(p), Address: s.String("at", ""), Guest: s.Has("at")})
		r.ledger.Bill(r.seats[p].Account, r.tabs[p].Payer())
		r.seats[p].Here, r.seats[p].Away, r.seats[p].Account = true, false, r.tabs[p].Payer()
	case "lose":
		r.ledger.Leave(&r.tabs[p])
		r.seats[p].Here, r.seats[p].Away = false, true
		r.l.Leave(p)
	case "leave":
		r.ledger.Leave(&r.tabs[p])
		r.ledger.Bill(r.seats[p].Account, 0)
		r.seats[p] = Seat{}
		r.l.Leave(p)
	case "ready", "unready":
		if !r.l.Say(r.ledger.Purse(r.now, &r.tabs[p]), p, s.Verb == "ready") {
			return "too often"
		}
		if _, unwritten := r.l.Unwritten(p); unwritten && !s.Has("unwritten") {
			r.l.Written(p)
		}
	case "awaits":
		var all []int
		for i, seat := range r.seats {
			if r.l.Awaits(lockstep.Player(i), seat) {
				all = append(all, i)
			}
		}
		return fmt.Sprint(all)
	case "hold", "unhold":
		r.l.Hold(r.now, s.Verb == "unhold", r.seats)
	case "later": // the server does nothing meanwhile
		r.now += seconds(s, "s")
	case "forgive":
		r.l.Forgive(r.now, seconds(s, "s"))
	case "close":
		r.l.Close()
	case "pass":
		return r.pass(seconds(s, "s"))
	default:
		r.t.Fatalf("no step %s", s.Verb)
	}
	return ""
}

func (r *room) begin(s *script.Step) {
	limits := budget.Limits{Notes: budget.Rate{N: 1, Per: lockstep.Second, Burst: 2}}
	for k := range limits.Of {
		limits.Of[k] = limits.Notes
	}
	n := int(s.UintOr("seats", 8, 4))
	*r = room{t: r.t, now: lockstep.Second, ledger: budget.New(limits, n), tabs: make([]budget.Tab, n), seats: make([]Seat, n)}
	r.l = New(Policy{
		Players: int(s.UintOr("players", 8, 0)), Ready: s.Has("ready"), Countdown: seconds(s, "countdown"), Deadline: seconds(s, "deadline"),
	}, n, r.ledger)
	for i := range int(s.UintOr("bots", 8, 0)) {
		r.seats[n-1-i] = Seat{Bot: true, Here: true}
	}
}

// pass asks every second, and says whenever the answer changes.
func (r *room) pass(d lockstep.Time) string {
	var out []string
	for end := r.now + d; ; r.now += lockstep.Second {
		text := "closed"
		if r.l.Open {
			over, wake := r.l.Time(r.now, r.seats)
			w := r.l.Wait(r.now, r.seats)
			text = w.Reason
			if len(w.Players) > 0 {
				text += fmt.Sprintf(" %d", w.Players)
			}
			if over {
				text = "over"
				r.l.Close()
			} else if wake <= r.now {
				r.t.Errorf("asks again at %d, it is %d", wake, r.now)
			}
		}
		if n := len(out); n == 0 || !strings.HasSuffix(out[n-1], " s: "+text) {
			out = append(out, fmt.Sprintf("%d s: %s", r.now/lockstep.Second, text))
		}
		if r.now >= end || text == "over" {
			return strings.Join(out, "\n")
		}
	}
}
