package server

import (
	"strconv"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A View is what anybody may know of a match.
type View struct {
	Name          string            `json:"name"`
	Protocol      uint32            `json:"protocol"`
	Engine        string            `json:"engine"`
	Game          string            `json:"game"`
	Build         string            `json:"build"`
	StateSchema   uint64            `json:"state_schema,string"`
	CommandSchema uint64            `json:"command_schema,string"`
	SelfTest      []string          `json:"self_test"`
	Match         string            `json:"match"`
	Settings      lockstep.Settings `json:"settings"`
	Tick          lockstep.Tick     `json:"tick"`
	Held          string            `json:"held,omitempty"`        // why it stands still, if it does
	Ended         string            `json:"ended,omitempty"`       // why, if it has
	SlowestRTT    lockstep.Time     `json:"slowest_rtt_us,string"` // of the players, in microseconds; 0 if it is not known
	Stats         host.Stats        `json:"stats"`
}

// publish renews the match's view and adds to the metrics.
func (m *Match) publish() {
	a, h := protocol.NewAuth(m.spec.Game), m.host.Header()
	v := &View{
		Name: m.spec.Name, Protocol: a.Protocol, Engine: a.Engine, Game: a.Game, Build: a.Build,
		StateSchema: a.StateSchema, CommandSchema: a.CommandSchema, SelfTest: selfTestText(a.SelfTest), Match: h.Match.String(), Settings: h.Settings,
		Tick: m.host.Now(), Held: m.host.Held(), Stats: m.host.Stats(),
	}
	for _, p := range m.host.Peers() {
		if p.Seat != lockstep.System {
			v.SlowestRTT = max(v.SlowestRTT, p.RTT)
		}
	}
	if err := m.host.Err(); err != nil {
		v.Ended = err.Error()
	}
	m.count(&v.Stats)
	m.weigh()
	m.bound(v.Stats.StateBytes)
	m.view.Store(v)
}

// selfTestText returns the sums of a self-test as in auth, each in decimal
// digits.
func selfTestText(t lockstep.SelfTest) []string {
	var text []string
	for _, v := range []uint64{t.Integers, t.Layout, t.Checksums, t.Records, t.Game} {
		text = append(text, strconv.FormatUint(v, 10))
	}
	return text
}

// View returns what the match showed of itself last, at most a second ago.
func (m *Match) View() View { return *m.view.Load() }
