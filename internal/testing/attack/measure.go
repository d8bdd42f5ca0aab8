package attack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Server is the target of the attacks.
type Server struct {
	URL    string // ws://HOST:PORT
	Match  string
	Tokens Tokens
	Dir    string               // with its replays; "" if unknown
	CPU    func() time.Duration // processor time used so far; nil if unknown
	Memory func() int64         // resident bytes; nil if unknown
}

// Options configure [Run].
type Options struct {
	Game *lockstep.Game

	// Think returns the function that chooses a player's commands. Nil: they give none.
	Think func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any

	// Time is the length of each attack, in two halves. A calm phase of the same length
	// comes before each half.
	Time time.Duration

	// Units says that a match of the game can be asked for with a number of units.
	Units bool

	// Attackers does a job in another process; see [Work].
	Attackers func(ctx context.Context, j Job) (Report, error)

	Program string // path of samestep
	Files   string // a folder for the attack's files; see [Attack.Serve]
}

const (
	// halves is how often calm and attack alternate.
	halves = 2

	// warmUp is how long the players play before the first phase.
	warmUp = 500 * time.Millisecond
)

// Run attacks a server and measures the attack.
func Run(ctx context.Context, a *Attack, s *Server, o Options) (*Result, error) {
	if err := CheckURL(ctx, s.URL); err != nil {
		return nil, err
	}
	m := &measurement{attack: a, server: s, options: &o, crowd: crowd{server: s, game: o.Game}}
	if a.Joins {
		m.crowd.program = o.Program
	}
	defer m.end()
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	sleep(ctx, warmUp)
	r := &Result{Row: a.Row, Name: a.Name, About: a.About, Seconds: o.Time.Seconds(), CPUKnown: s.CPU != nil, AllowedMS: milliseconds(a.Late)}
	for n := range halves {
		calm, err := m.phase(ctx, nil)
		if err != nil {
			return nil, err
		}
		attack, err := m.phase(ctx, a)
		if err != nil {
			return nil, err
		}
		if a.Lasts && n > 0 {
			calm.forget()
		}
		r.add(&calm, &attack)
		if r.Skipped != "" {
			break
		}
	}
	r.finish()
	return r, ctx.Err()
}

// A measurement is one attack with its honest players.
type measurement struct {
	attack  *Attack
	server  *Server
	options *Options
	players []*participant
	crowd   crowd
}

// begin lets the players join, all at once.
func (m *measurement) begin(ctx context.Context) error {
	honest := m.server.Tokens.Honest
	players, errs := make([]*participant, len(honest)), make([]error, len(honest))
	var wait sync.WaitGroup
	for seat := range honest {
		wait.Go(func() { players[seat], errs[seat] = newPlayer(ctx, m.server, m.options, seat) })
	}
	wait.Wait()
	m.players = slices.DeleteFunc(players, func(p *participant) bool { return p == nil })
	return errors.Join(errs...)
}

func (m *measurement) end() {
	for _, p := range m.players {
		p.end()
	}
}

// A phase is the measurements of a period with or without the attack.
type phase struct {
	took     time.Duration
	report   Report
	arrivals [][]arrival // of each player
	lost     []string    // why players lost their connections
	refused  int
	agreed   int // checksums
	expected int
	differed int
	ticks    lockstep.Tick // sealed, by the player who saw fewest
	period   time.Duration
	welcomes welcomes
	cpu      time.Duration
	memory   int64 // maximum, above that at the start
	written  int64 // bytes
}

// forget drops the values that an attack is compared with.
func (x *phase) forget() {
	x.arrivals = make([][]arrival, len(x.arrivals))
	x.took, x.cpu, x.welcomes.worst = 0, 0, 0
}

// phase measures for half of the time, with an attack unless it is nil.
func (m *measurement) phase(ctx context.Context, a *Attack) (x phase, err error) {
	before := make([]tally, len(m.players))
	for i, p := range m.players {
		before[i] = p.tally()
	}
	cpu, memory, written := m.cpu(), m.memory(), m.written()
	began := time.Now()
	timed, cancel := context.WithTimeout(ctx, m.options.Time/halves)
	defer cancel()
	var wait sync.WaitGroup
	if a != nil {
		wait.Go(func() { x.report, err = m.attackWith(ctx, a) })
	}
	wait.Go(func() { x.welcomes = m.crowd.come(timed) })
	wait.Go(func() { x.memory = m.most(timed) - memory })
	<-timed.Done()
	x.took, x.cpu, x.written = time.Since(began), m.cpu()-cpu, m.written()-written
	for i, p := range m.players {
		x.player(p, before[i], p.tally())
	}
	wait.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return x, err
}

func (m *measurement) attackWith(ctx context.Context, a *Attack) (Report, error) {
	return m.options.Attackers(ctx, Job{
		Attack: a.Name, Server: m.server.URL, Match: m.server.Match, Tokens: m.server.Tokens, From: otherAddress(m.server.URL),
		Dir: m.options.Files, Program: m.options.Program, Game: m.options.Game.Name(), Units: m.options.Units, Time: m.options.Time / halves,
	})
}

// player adds what a player has noticed.
func (x *phase) player(p *participant, before, after tally) {
	x.arrivals = append(x.arrivals, p.ticks(before, after))
	if after.err != nil && before.err == nil {
		x.lost = append(x.lost, after.err.Error())
	}
	x.period = time.Second / time.Duration(p.settings.TickRate())
	every := lockstep.Tick(p.settings.CheckEvery)
	x.refused += after.refused - before.refused
	x.agreed += after.agreed - before.agreed
	x.differed += after.differed - before.differed
	x.expected += int(after.tick/every) - int(before.tick/every)
	if ticks := after.tick - before.tick; len(x.arrivals) == 1 || ticks < x.ticks {
		x.ticks = ticks
	}
}

func (m *measurement) cpu() time.Duration {
	if m.server.CPU == nil {
		return 0
	}
	return m.server.CPU()
}

func (m *measurement) memory() int64 {
	if m.server.Memory == nil {
		return 0
	}
	return m.server.Memory()
}

// most returns the maximum of the server's memory until ctx ends.
func (m *measurement) most(ctx context.Context) (most int64) {
	for ctx.Err() == nil {
		most = max(most, m.memory())
		sleep(ctx, 50*time.Millisecond)
	}
	return max(most, m.memory())
}

// written returns the bytes of the server's files.
func (m *measurement) written() (sum int64) {
	if m.server.Dir == "" {
		return 0
	}
	// A file may disappear meanwhile.
	_ = filepath.WalkDir(m.server.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if st, err := d.Info(); err == nil {
			sum += st.Size()
		}
		return nil
	})
	return sum
}

// errFailed means that honest players noticed an attack, or that it succeeded.
var errFailed = errors.New("attack: the server did not withstand")

// Failure returns an error that names the attacks with failures, or nil.
func Failure(all []*Result) error {
	var failed []string
	for _, r := range all {
		if len(r.Failures) > 0 {
			failed = append(failed, r.Name)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errFailed, strings.Join(failed, ", "))
}
