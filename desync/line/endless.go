package line

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// tickTime is how long a side may compute one tick. A side that has taken longer ticks may take much longer than these.
var tickTime = 20 * time.Second

// endlessCut is after how many events the recording of a tick is cut that does not end.
var endlessCut = 1 << 20

// manyTimes as long as the longest tick so far a tick may take, too.
const manyTimes = 20

// errEnough ends a program whose further ticks change nothing.
var errEnough = errors.New("line: enough is known")

// errEndless ends a program that does not end a tick.
var errEndless = errors.New("line: a tick does not end")

// A watched is a program that computes a match, and tells each tick's sum as it comes.
type watched struct {
	done   *job
	path   string // of the file of sums
	sums   []uint64
	since  time.Time // of the latest sum
	ended  bool
	cancel context.CancelCauseFunc
}

// watch lets sides do a job that writes sums, and compares these as they come. It ends a side that does not end a tick, and, unless
// all sums are wanted, both as soon as they differ.
func (s *search) watch(ctx context.Context, name string, sides []*side, j program.Job, all bool, env ...string) (done []*job, err error) {
	from := time.Now()
	var list []*watched
	type end struct {
		i    int
		done *job
		err  error
	}
	ends := make(chan end)
	for i, one := range sides {
		own := name + one.name
		w := &watched{path: filepath.Join(one.folder, own, program.HashFile)}
		if err := gone(w.path); err != nil {
			return nil, err
		}
		sideCtx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		w.cancel, list = cancel, append(list, w)
		go func() {
			done, err := one.run(sideCtx, own, j, env...)
			if cause := context.Cause(sideCtx); err != nil && (errors.Is(cause, errEnough) || errors.Is(cause, errEndless)) {
				if done, err = one.stopped(own, j); errors.Is(cause, errEndless) {
					done.stop = &Endless{Seconds: tickTime.Seconds()}
				}
			}
			ends <- end{i, done, err}
		}()
	}
	poll := time.NewTicker(min(tickTime/8, 20*time.Millisecond))
	defer poll.Stop()
	longest := time.Duration(0)
	for left := len(list); left > 0; {
		select {
		case e := <-ends:
			left--
			list[e.i].read()
			list[e.i].done, list[e.i].ended, err = e.done, true, cmp.Or(err, e.err)
			if e.err != nil {
				for _, w := range list {
					w.cancel(errEnough)
				}
			}
			continue
		case <-poll.C:
		}
		for _, w := range list {
			longest = max(longest, w.read())
			if len(w.sums) > 0 && !w.ended && time.Since(w.since) > max(tickTime, manyTimes*longest) {
				w.cancel(errEndless)
			}
		}
		if len(list) == 2 && !all && differ(list[0], list[1]) {
			list[0].cancel(errEnough)
			list[1].cancel(errEnough)
		}
	}
	s.result.RunSeconds += time.Since(from).Seconds()
	for _, w := range list {
		done = append(done, w.done)
	}
	return done, err
}

func gone(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// read reads the sums that came, and returns how long the first of them took.
func (w *watched) read() (took time.Duration) {
	b, err := readFrom(w.path, 8*len(w.sums))
	if n := len(b) / 8; err == nil && n > 0 {
		if len(w.sums) > 0 {
			took = time.Since(w.since) / time.Duration(n)
		}
		w.since = time.Now()
		for i := range n {
			w.sums = append(w.sums, binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return took
}

// readFrom returns what a file has from a place on.
func readFrom(path string, at int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, max(info.Size()-int64(at), 0))
	_, err = f.ReadAt(b, int64(at))
	return b, err
}

// differ reports whether two programs are known to differ: in a sum, or because only one of them goes on.
func differ(a, b *watched) bool {
	for i := range min(len(a.sums), len(b.sums)) {
		if a.sums[i] != b.sums[i] {
			return true
		}
	}
	return a.ended && len(b.sums) > len(a.sums) || b.ended && len(a.sums) > len(b.sums)
}

// stopped returns what a program has told before it was ended.
func (s *side) stopped(name string, j program.Job) (*job, error) {
	j.Folder = filepath.Join(s.folder, name)
	done := &job{Job: j}
	return done, program.ReadJSON(filepath.Join(j.Folder, program.ResultFile), &done.result)
}

// recordEndless makes the recording of a tick end that a side may not end.
func recordEndless(j *program.Job, events int) {
	j.Events, j.Seconds = events, tickTime.Seconds()
}

// firstEndless takes the tick that a side did not end, if no earlier one is known to differ.
func (s *search) firstEndless(done ...*job) error {
	for i, one := range done {
		if one.stop == nil {
			continue
		}
		sums, err := one.hashes()
		if err != nil {
			return err
		}
		switch t := lockstep.Tick(one.result.First) + lockstep.Tick(len(sums)); {
		case s.Tick == 0 || t < s.Tick:
			s.Tick, s.result.Endless = t, [2]*Endless{}
			fallthrough
		case t == s.Tick:
			s.result.Endless[min(i, 1)] = one.stop
		}
	}
	return nil
}

// begun reports whether a job that was not done has something to tell: sums, a recording, or where Step is.
func (j *job) begun() bool {
	switch j.Kind {
	case program.Trace:
		return len(j.result.Runs) > 0
	case program.Stand:
		return j.result.Step.Name != ""
	}
	sums, err := j.hashes()
	return err == nil && len(sums) > 0 && (j.Kind == program.Hashes || j.Kind == program.Cold)
}

// record lets two sides record a tick. Where a program ends in it, another one does it, whose recording has all events up to there.
func (s *search) record(ctx context.Context, sides [2]*side, jobs [2]program.Job, events int) (done [2]*job, err error) {
	for {
		if done, err = s.pair(ctx, "trace", sides, jobs); err == nil {
			return done, nil
		}
		retry := false
		for i, one := range done {
			if one != nil && one.stop != nil && jobs[i].Seconds == 0 {
				recordEndless(&jobs[i], events)
				retry = true
			}
		}
		if !retry {
			return done, err
		}
	}
}

// stackOverflow is what the Go runtime says of a goroutine that calls too deep.
const stackOverflow = "stack overflow"

// endedBy says how a program ended, of which err and out are what Wait returned and what it printed.
func endedBy(err error, out string) string {
	code, lines := 0, strings.Split(strings.TrimSpace(out), "\n")
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	for _, l := range lines {
		switch fatal := strings.HasPrefix(l, "fatal error: "); {
		case code != 2: // that of the Go runtime
		case fatal && strings.HasSuffix(l, stackOverflow):
			return stackOverflow
		case fatal, strings.HasPrefix(l, "panic: "):
			return clipped(l)
		}
	}
	how := fmt.Sprintf("exit code %d", code)
	if code < 0 {
		how = exit.String() // such as a signal
	}
	if last := clipped(lines[len(lines)-1]); last != "" {
		how += ", after the line " + strconv.Quote(last)
	}
	return how
}

// endless notes what a side's recording of a tick tells that was cut, or that ends with the program.
func (s *search) endless(side int, done *job, r *program.Run, x *stream) error {
	if s.result.Endless[side] == nil {
		s.result.Endless[side] = cmp.Or(done.stop, &Endless{Seconds: tickTime.Seconds()})
	}
	e := *s.result.Endless[side]
	s.result.Endless[side] = &e
	for !x.end {
		if _, err := x.read(); err != nil {
			return err
		}
	}
	if r.Events == 0 {
		s.result.Events[side] = x.count // the program could not say
	}
	e.Last, e.Loop = x.loop()
	if x.count < loopEvents {
		e.Loop = nil // the last lines that it ran are not known to be run again
	}
	return nil
}
