package program

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// summed lets step compute the ticks of a job, up to its end or that of the log, and writes the state hash after each to a file at once.
func (m *match) summed(step func(*lockstep.Frame) (stop bool, err error)) error {
	out, err := os.Create(filepath.Join(m.job.Folder, HashFile))
	if err != nil {
		return err
	}
	defer out.Close()
	for {
		if _, err := out.Write(binary.LittleEndian.AppendUint64(nil, m.sim.Hash())); err != nil {
			return err
		}
		if m.job.Tick > 0 && uint32(m.sim.Tick()) >= m.job.Tick {
			return out.Close()
		}
		f, err := m.frame()
		if f == nil || err != nil {
			return err
		}
		if stop, err := step(f); stop || err != nil {
			return err
		}
	}
}

// hashes steps through the log, up to its end or a panic of the rules.
func (m *match) hashes(r *Result) error {
	return m.summed(func(f *lockstep.Frame) (bool, error) {
		err := m.sim.Step(f)
		if err != nil {
			r.Panic = err.Error()
		}
		return err != nil, nil
	})
}

// cold compares each tick with a copy restored just before it, which lacks all that Derive makes, as in a new program.
func (m *match) cold(r *Result) error {
	var before []byte
	return m.summed(func(f *lockstep.Frame) (bool, error) {
		at := m.sim.Tick()
		before = m.sim.AppendState(before[:0])
		fresh, err := m.restored(at, before)
		if panicked(err) {
			r.Panic = err.Error()
			return true, nil
		}
		if err != nil {
			return true, err
		}
		warmErr, coldErr := m.sim.Step(f), fresh.Step(f)
		if (warmErr == nil) != (coldErr == nil) || warmErr == nil && m.sim.Hash() != fresh.Hash() {
			r.Differs = uint32(at) + 1
			return true, nil
		}
		if warmErr != nil {
			r.Panic = warmErr.Error()
		}
		return warmErr != nil, nil
	})
}

func (m *match) restored(t lockstep.Tick, state []byte) (*lockstep.Simulation, error) {
	s, err := m.game.AwaitState(m.head)
	if err != nil {
		return nil, err
	}
	s.Schedule(1, nil)
	return s, s.Restore(t, state)
}

// renew replaces the simulation by a restored one, at the tick of the job.
func (m *match) renew() error {
	at := m.sim.Tick()
	if m.job.Renew == 0 || uint32(at) != m.job.Renew {
		return nil
	}
	fresh, err := m.restored(at, m.sim.AppendState(nil))
	if err != nil {
		return err
	}
	m.sim = fresh
	return nil
}

// approach steps to the tick before that of the job, and returns the frame of that tick.
func (m *match) approach(history History) (*lockstep.Frame, error) {
	for uint32(m.sim.Tick())+1 < m.job.Tick {
		f, err := m.frame()
		if err != nil {
			return nil, err
		}
		if f == nil {
			return nil, fmt.Errorf("the log ends after tick %d, before tick %d", m.sim.Tick(), m.job.Tick)
		}
		if err := m.renew(); err != nil {
			return nil, err
		}
		if err := m.before(f, history); err != nil {
			return nil, err
		}
	}
	if err := m.renew(); err != nil {
		return nil, err
	}
	f, err := m.frame()
	if err == nil && (f == nil || uint32(f.Tick) != m.job.Tick) {
		err = fmt.Errorf("the log has no tick %d", m.job.Tick)
	}
	return f, err
}

func (m *match) trace(r *Result) error {
	history := History{}
	f, err := m.approach(history)
	if err != nil {
		return err
	}
	r.Before = history.List()
	sim, at, before := m.sim, m.sim.Tick(), m.sim.AppendState(nil)
	for r.Tried < max(m.job.Runs, 1) {
		if !m.job.Warm {
			if sim, err = m.restored(at, before); panicked(err) {
				run := Run{Before: "before", Panic: err.Error()}
				r.Tried, r.Runs = 1, append(r.Runs, run)
				return os.WriteFile(filepath.Join(m.job.Folder, run.Before), before, 0o600)
			}
			if err != nil {
				return err
			}
		}
		if m.job.Runs > 0 && r.Tried%2 == 1 {
			sim.Schedule(1, Backwards)
		}
		run, err := m.record(r, sim, f, len(r.Runs))
		if err != nil {
			return err
		}
		r.Tried++
		if len(r.Runs) == 0 || run.Hash != r.Runs[0].Hash || run.Panic != r.Runs[0].Panic {
			if r.Runs = append(r.Runs, run); len(r.Runs) == 2 {
				break
			}
		}
	}
	return nil
}

// record computes a tick, and writes its recording and its state.
func (m *match) record(r *Result, sim *lockstep.Simulation, f *lockstep.Frame, n int) (Run, error) {
	mayEnd := m.job.Events > 0 || m.job.Seconds > 0
	probe.Unbuffered = mayEnd
	open, err := Record(m.job.Folder, n, sim, m.yield())
	if err != nil {
		return Run{}, err
	}
	if mayEnd {
		if err := m.cut.record(*r, open, m.job.Seconds); err != nil {
			return Run{}, err
		}
	}
	err = sim.Step(f)
	m.cut.stop()
	return open.End(err)
}

// yield returns a function that gives way to other goroutines at every 7th event, and ends a tick of too many; or nil.
func (m *match) yield() func() {
	if !m.job.Yield && m.job.Events == 0 {
		return nil
	}
	var n atomic.Int64
	return func() {
		i := n.Add(1)
		if m.job.Yield && i%7 == 0 {
			runtime.Gosched()
		}
		if m.job.Events > 0 && i > int64(m.job.Events) {
			m.cut.end(0)
		}
	}
}

// before computes a tick before that of the job. Of the last ones it notes the assignments.
func (m *match) before(f *lockstep.Frame, history History) error {
	if !m.job.Warm || uint32(f.Tick)+uint32(m.job.Window) < m.job.Tick {
		return m.sim.Step(f)
	}
	return history.Step(uint32(f.Tick), func() error { return m.sim.Step(f) })
}

// ResultFile is the name of the result in the folder of a job.
const ResultFile = "result.json"

// Main does the job in the file that the only argument names, and exits.
func Main(makers ...Maker) {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "missing job file: only desync line and replay debug run this program")
		os.Exit(2)
	}
	// A tick that waits for ever is one that does not end. Without a timer, the runtime would end the program.
	time.AfterFunc(math.MaxInt64, func() {})
	var j Job
	err := ReadJSON(os.Args[1], &j)
	if err == nil {
		debug.SetMaxStack(maxStack)
		err = WriteJSON(filepath.Join(j.Folder, ResultFile), j.do(makers))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// do does the job. All errors are in the result.
func (j *Job) do(makers []Maker) *Result {
	c := &cut{folder: j.Folder}
	c.watchMemory(j.Memory)
	defer c.Lock() // the job is done: it stays locked
	if j.Kind == Data {
		return &Result{Data: probe.Variables()}
	}
	// Runs again and again are to differ where the order of a map decides.
	probe.InOrder = j.Kind == Trace && j.Runs == 0
	m, err := j.open(makers, c)
	r := &Result{Platform: lockstep.Platform()}
	if err == nil {
		r.Build, r.First = m.game.Build(), uint32(m.sim.Tick())
		if j.Kind == Hashes || j.Kind == Cold { // for a program that ends in a tick
			err = c.begin(*r)
		}
	}
	if err == nil {
		switch j.Kind {
		case Hashes:
			err = m.hashes(r)
		case Cold:
			err = m.cold(r)
		case Trace:
			err = m.trace(r)
		case Stand, Debug:
			err = m.stand(r)
		default:
			err = fmt.Errorf("unknown kind of job %q", j.Kind)
		}
		r.Last = uint32(m.sim.Tick())
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

// A Maker makes a game of the program.
type Maker struct {
	Game func() (*lockstep.Game, error)
	Step func() Function // of its rules
}

// Of returns the Maker of the game of some rules.
func Of[S, C any](rules func() lockstep.Rules[S, C]) Maker {
	return Maker{
		Game: func() (*lockstep.Game, error) { return lockstep.NewGame(rules()) },
		Step: func() Function { return functionOf(rules().Step) },
	}
}

func functionOf(f any) Function {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	file, line := fn.FileLine(fn.Entry())
	return Function{strings.TrimSuffix(fn.Name(), "-fm"), file, line} // -fm is the wrapper of a method value
}

// A match is a match of a job, at a tick.
type match struct {
	job  *Job
	cut  *cut
	game *lockstep.Game
	head *lockstep.Header
	step func() Function
	sim  *lockstep.Simulation
	dec  record.Decoder
	rest []byte         // of the log
	run  *record.Record // whose frames come next

	panicked *lockstep.Frame // on which the rules panicked in the match: the next one, unless the log has another
}

// open reads the header and the first keyframe of the log.
func (j *Job) open(makers []Maker, c *cut) (*match, error) {
	log, err := os.ReadFile(j.Log)
	if err != nil {
		return nil, err
	}
	m := &match{job: j, cut: c, rest: log}
	for m.sim == nil {
		r, err := m.next()
		if err != nil {
			return nil, err
		}
		switch r.Kind {
		case record.KindHeader:
			if err := m.choose(r.Header, makers); err != nil {
				return nil, err
			}
		case record.KindKeyframe:
			if m.sim, err = m.begin(); err != nil {
				return nil, err
			}
			m.sim.Schedule(1, nil)
			if j.Backwards {
				m.sim.Schedule(1, Backwards)
			}
			if err := m.sim.Restore(r.Tick, r.Keyframe.State); err != nil && !panicked(err) { // a panic is that of the next tick, too
				return nil, err
			}
		}
	}
	return m, nil
}

// begin returns the simulation for the first keyframe. It has called New, like a machine that has played the match.
func (m *match) begin() (*lockstep.Simulation, error) {
	if !m.job.Bare {
		if s, err := m.game.NewSimulation(m.head); err == nil {
			return s, nil
		}
	}
	return m.game.AwaitState(m.head) // the New of another version may refuse the match
}

// choose finds the game of a header. The match becomes one of its build, to run a log with the rules of another.
func (m *match) choose(h *lockstep.Header, makers []Maker) error {
	var names []string
	for _, make := range makers {
		g, err := make.Game()
		if err != nil {
			return err
		}
		if names = append(names, g.Name()); g.Name() != h.Game {
			continue
		}
		own := *h
		own.Build = g.Build()
		m.game, m.head, m.step = g.WithAssets(m.job.asset), &own, make.Step
		if !g.HasAssets() {
			m.game = g
		}
		return g.CheckIdentity(&own)
	}
	return fmt.Errorf("the match is of game %q, the sources have %q", h.Game, strings.Join(names, ", "))
}

func (j *Job) asset(a lockstep.Asset) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(j.Assets, a.SHA256))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, record.ErrNoAsset
	}
	return b, err
}

// next returns the next record, or nil at the end of the log.
func (m *match) next() (*record.Record, error) {
	if len(m.rest) == 0 {
		if m.sim == nil {
			return nil, errors.New("the log has no keyframe")
		}
		return nil, nil
	}
	r, rest, err := m.dec.Decode(m.rest)
	m.rest = rest
	return r, err
}

// frame returns the next frame, or nil at the end of the log. A panic of the rules has the last one.
func (m *match) frame() (*lockstep.Frame, error) {
	for {
		if m.run != nil {
			if f := m.run.FrameAfter(m.sim.Tick()); f != nil {
				return f, nil
			}
		}
		r, err := m.next()
		if err != nil {
			return nil, err
		}
		if r == nil {
			if f := m.panicked; f != nil && f.Tick == m.sim.Tick()+1 {
				return f, nil
			}
			return nil, nil
		}
		if m.run = r; r.Kind == record.KindPanic {
			m.panicked = &r.Panic.Frame
		}
	}
}

// stand goes to the tick before that of the job. Of a Debug it computes the tick.
func (m *match) stand(r *Result) error {
	f, err := m.approach(nil)
	if err != nil {
		return err
	}
	sim, err := m.restored(m.sim.Tick(), m.sim.AppendState(nil))
	if err != nil {
		return err
	}
	var address uintptr
	if m.job.Path != "" {
		field, at, err := watched(m.game.StateSchema(), sim.AppendState(nil), sim.AnyWorld(), m.job.Path)
		if err != nil {
			return err
		}
		r.Field, address = &field, at
	}
	r.Step = m.step()
	if m.job.Kind == Stand {
		if err := m.cut.begin(*r); err != nil { // the tick may end the program
			return err
		}
		if err := sim.Step(f); errors.As(err, new(*lockstep.PanicError)) {
			r.Panic = err.Error()
		}
		return nil
	}
	before(address)
	err = sim.Step(f)
	after(err)
	runtime.KeepAlive(sim) // the address is in it
	return nil
}

// before is where a debugger sets the watchpoint.
//
//go:noinline
func before(address uintptr) { runtime.KeepAlive(address) }

// after is where a debugger stops after the tick.
//
//go:noinline
func after(err error) { runtime.KeepAlive(err) }

// watched returns the field at a path of a state, and where world has it in memory.
func watched(s *state.Schema, b []byte, world any, path string) (f Field, address uintptr, err error) {
	v, err := s.Lookup(b, path)
	if err != nil {
		return f, 0, err
	}
	if kind := v.Node.Kind(); kind == state.Struct || kind == state.Array {
		leaves, err := s.LeavesAt(b, v.Path)
		if err != nil {
			return f, 0, err
		}
		for leaf := range leaves {
			return f, 0, fmt.Errorf("%s is %v: want the path of one field, such as %s", v.Path, kind, leaf.Path)
		}
		return f, 0, fmt.Errorf("%s has no field to watch", v.Path)
	}
	memory := memoryOf(reflect.ValueOf(world).Elem(), v.Path)
	f = Field{path, v.String(), memory.Kind().String(), v.Node.FractionBits()}
	if memory.Kind() == reflect.Slice { // its pointer, its length and its capacity
		f.Type = "int"
		return f, memory.UnsafeAddr() + reflect.TypeFor[uintptr]().Size(), nil
	}
	return f, memory.UnsafeAddr(), nil
}

// memoryOf returns the part of a state at a path with indexes only.
func memoryOf(v reflect.Value, path string) reflect.Value {
	for path != "" {
		end := strings.IndexAny(path[1:], ".[") + 1
		if end == 0 {
			end = len(path)
		}
		step := path[:end]
		path = path[end:]
		if index, ok := strings.CutPrefix(step, "["); ok {
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil {
				panic(err) // cannot happen: the path of a state.Value has indexes only
			}
			v = v.Index(i)
		} else {
			v = v.FieldByName(strings.TrimPrefix(step, "."))
		}
	}
	return v
}
