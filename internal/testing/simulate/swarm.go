package simulate

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// Options select the plans that seeds expand to.
type Options struct {
	Subject *Subject

	// Clients is the number of players; 0 means 8. Some seeds add spectators and
	// liars.
	Clients int

	// Length is the length of a match; 0 means 5 minutes.
	Length lockstep.Time

	// TickRate is in ticks per second; 0 means 20.
	TickRate uint16

	// Only names the allowed kinds of faults; nil means all.
	Only []string

	// Calm disables all faults.
	Calm bool
}

func (o *Options) fill() {
	if o.Subject == nil {
		o.Subject = Drones(256)
	}
	o.Clients = cmp.Or(o.Clients, 8)
	o.Length = cmp.Or(o.Length, 300*lockstep.Second)
	o.TickRate = cmp.Or(o.TickRate, 20)
}

// ticks returns as many ticks as last as long as n of 20 a second, at least one.
func (o *Options) ticks(n int) lockstep.Tick { return lockstep.Tick(max(1, n*int(o.TickRate)/20)) }

// healing is the length of the second phase of a run.
const healing = 30 * lockstep.Second

// Shortest is the minimal length of a match with faults: they start after some
// seconds, and end half a minute before the match does.
const Shortest = healing + 10*lockstep.Second

// SpareSeats is how many seats a plan may have in addition to those of its clients: for up
// to three liars and four guests.
const SpareSeats = 7

// Expand expands a seed to a plan. The seed enables some kinds of faults and draws the
// rest, each from a stream of its own.
func Expand(o Options, seed uint64) *Plan {
	o.fill()
	p := &Plan{Seed: seed, Heal: min(healing, o.Length), Chaos: max(o.Length-healing, lockstep.Second)}
	p.Settings = lockstep.DefaultSettings(uint8(min(o.Clients+2, lockstep.MaxPlayers)))
	p.Settings.Seed, p.Settings.TickMicros = seed, lockstep.TickPeriod(o.TickRate)
	r := stream(seed, "settings", 0)
	p.Settings.CheckEvery = uint16(o.ticks(5 + r.IntN(26)))
	p.Settings.KeyframeEvery = uint32(r.IntN(3)) * 300
	expandHost(&o, p)
	expandDisk(p)
	hostile := o.hostile(seed)
	liars, spectators := stream(seed, "liars", 0).IntN(3), stream(seed, "spectators", 0).IntN(3)
	if o.Calm {
		liars = 0
	}
	if hostile {
		liars, spectators = liars+1, max(spectators, 1)
		p.Settings.Players = uint8(min(o.Clients+liars+4, lockstep.MaxPlayers))
	}
	if seats := o.Subject.seatsFor(p.Settings.Players); seats != p.Settings.Players {
		p.Settings.Players = seats
		liars = min(liars, max(int(seats)-2, 0))
		o.Clients = min(o.Clients, int(seats)-liars)
	}
	if delay := lockstep.Time(p.Host.SpectatorDelay); delay > 0 {
		spectators = max(spectators, 1)
		p.Heal += min(2*delay*lockstep.Second/lockstep.Time(o.TickRate), o.Length) // after a crash spectators wait for their delay again
	}
	if hostile {
		p.Host.Relay, p.Host.Inactive = false, 0 // attackers keep seats
	}
	if p.Host.Relay { // with few players ties and absences are frequent
		o.Clients = min(o.Clients, 2+stream(seed, "relay clients", 0).IntN(max(o.Clients-1, 1)))
	}
	for i := range o.Clients + liars + spectators {
		p.Machines = append(p.Machines, expandMachine(&o, seed, i, liars))
	}
	if hostile {
		expandAttacks(&o, p)
	}
	expandViews(&o, p, hostile)
	expandCluster(&o, p)
	expandLobby(&o, p)
	expandDatagrams(p)
	if !o.Calm {
		expandFaults(&o, p)
	}
	return p
}

func expandHost(o *Options, p *Plan) {
	r := stream(p.Seed, "host", 0)
	rate := lockstep.Tick(p.Settings.TickRate())
	h := &p.Host
	h.InputDelay = o.ticks(1 + r.IntN(6))
	h.Lag = rate * lockstep.Tick(4+r.IntN(7))
	h.Grace = between(r, 5*sec, 40*sec)
	h.Keyframes = between(r, sec, 6*sec)
	if r.IntN(3) == 0 {
		h.SyncBytes = 1 << 10
	}
	h.Leave = r.IntN(4) == 0
	h.Desync = [...]host.DesyncPolicy{host.ResyncDesynced, host.ResyncDesynced, host.LogDesynced, host.RemoveDesynced}[r.IntN(4)]
	if r.IntN(5) == 0 {
		h.Wait = between(r, 100*ms, 2*sec)
	}
	if r.IntN(5) == 0 {
		h.Slow = 50
	}
	if r.IntN(3) == 0 {
		h.MaxDelay = 12
	}
	if r.IntN(3) == 0 {
		h.Ring = max(64, int(h.Lag)) // more than the records of a few slow ticks
	}
	if r := stream(p.Seed, "substitutes", 0); !h.Leave && r.IntN(2) == 0 {
		h.Substitute, h.Grace = true, between(r, 300*ms, 4*sec) // short, so that they play often
	}
	if r := stream(p.Seed, "inactive", 0); r.IntN(2) == 0 {
		h.Inactive, h.RemoveInactive = between(r, 9*sec, 11*sec), r.IntN(2) == 0
	}
	if r := stream(p.Seed, "spectator delay", 0); r.IntN(5) == 0 {
		h.SpectatorDelay = 1 + lockstep.Tick(r.IntN(int(rate)<<r.IntN(5)))
		if h.Ring > 0 {
			h.Ring += 2 * int(h.SpectatorDelay)
		}
	} else if o.Subject.Relay && stream(p.Seed, "relay", 0).IntN(8) == 0 {
		h.Relay, h.Substitute, h.Inactive, h.Ring = true, false, 0, 0 // a snapshot of a client is some seconds old
	}
}

func expandDisk(p *Plan) {
	r := stream(p.Seed, "disk", 0)
	p.Disk = DiskPlan{
		EachFrame: r.IntN(3) > 0, FlushTicks: uint32(1 + r.IntN(int(p.Settings.TickRate()))),
		SyncEvery: between(r, 100*ms, sec), SyncTime: between(r, 0, 900),
	}
	if stream(p.Seed, "await", 0).IntN(3) == 0 {
		p.Disk.Await, p.Disk.EachFrame, p.Disk.SyncTime = true, false, between(r, ms, 30*ms)
	}
}

func expandMachine(o *Options, seed uint64, i, liars int) MachinePlan {
	r := stream(seed, "machine", i)
	m := MachinePlan{Liar: i >= o.Clients && i < o.Clients+liars, Spectator: i >= o.Clients+liars, Every: between(r, 100*ms, 1500*ms)}
	if m.Spectator {
		m.Every = 0
	}
	if r.IntN(3) == 0 {
		m.JoinAt = between(r, 0, o.Length/2)
	}
	if r.IntN(8) == 0 {
		m.Predict = lockstep.Tick(4 + r.IntN(12))
	}
	m.Interpolate = r.IntN(8) == 0
	m.Backlog = 64 << 10
	if r.IntN(4) == 0 {
		m.Backlog = 8 << 10 << r.IntN(3)
	}
	m.Up = expandLink(seed, "link up", i)
	m.Down = expandLink(seed, "link down", i)
	return m
}

func expandLink(seed uint64, purpose string, i int) Link {
	r := stream(seed, purpose, i)
	l := Link{Delay: between(r, ms, 60*ms)}
	if r.IntN(4) == 0 {
		l.Delay = between(r, 50*ms, 500*ms)
	}
	if r.IntN(2) == 0 {
		l.Jitter = between(r, 0, 60*ms)
	}
	if r.IntN(4) == 0 {
		l.Loss = uint32(r.IntN(100_000))
	}
	if r.IntN(4) == 0 {
		l.Rate = 16<<10 + r.Int64N(64<<10)
	}
	return l
}

// early is when the first fault starts. The file may not exist before.
const early = 4 * sec

// expandFaults draws the faults of each kind.
func expandFaults(o *Options, p *Plan) {
	usual := uint64(slices.IndexFunc(kinds, func(k kind) bool { return k.group == "hands" }))
	crashes := stream(p.Seed, "relay crashes", 0).IntN(4) == 0 // the end of a match without a referee
	for i := range kinds {
		k := &kinds[i]
		r := stream(p.Seed, "kind "+k.name, 0)
		on := r.IntN(3) == 0 || p.Seed%usual == uint64(i)
		if k.group == "hands" {
			on = p.Host.Limits && r.IntN(2) == 0
		} else if k.group == "cluster" {
			on = r.IntN(3) > 0
		} else if p.Host.Limits && !k.allowedInAttacks() {
			continue
		}
		if o.Only != nil {
			on = slices.Contains(o.Only, k.name)
		}
		if !on || !k.fits(p) || p.Chaos <= early || p.Host.Relay && !crashes && slices.Contains(needsFile, k.name) {
			continue
		}
		// Up to twice the usual number for the length, and at least one.
		n := 1 + r.Int64N(1+2*int64(k.perHour)*int64(p.Chaos)/int64(3600*lockstep.Second))
		before := len(p.Faults)
		for range n {
			f := Fault{Kind: k.name, At: between(r, early, p.Chaos-1), For: between(r, k.low, k.high), Who: r.IntN(len(p.Machines))}
			if k.n > 0 {
				f.N = r.Int64N(k.n + 1)
			}
			if liars := p.liars(); k.liar && len(liars) > 0 {
				f.Who = liars[f.Who%len(liars)]
			} else if k.liar {
				continue
			}
			if ok := true; p.Host.Limits && (k.group == "network" || k.group == "client") {
				if f.Who, ok = p.reassign(o, f.Who); !ok {
					continue
				}
			}
			p.Faults = append(p.Faults, f)
		}
		if k.group == "hands" && k.name != "hands: every second check" {
			p.aim(p.Faults[before:])
		}
		p.hasten(p.Faults[before:])
	}
	for i := range p.Faults {
		p.Faults[i].ID = i
	}
	slices.SortStableFunc(p.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}

// liars returns the indexes of liars.
func (p *Plan) liars() (all []int) {
	for i := range p.Machines {
		if p.Machines[i].Liar {
			all = append(all, i)
		}
	}
	return all
}
