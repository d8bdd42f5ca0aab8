//go:build !js

package bots

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/words"
)

// Bounds of what a program says, and of how long its end takes.
const (
	maxLine    = 1 << 20                // bytes of a line
	maxLast    = 2 << 10                // bytes of its standard error that an error repeats
	lastLines  = 10                     // lines of them
	maxQuoted  = 120                    // bytes of a line that an error repeats
	endingTime = 2 * time.Second        // for a program to end after its input has
	drainTime  = 200 * time.Millisecond // for the last lines of a program that has exited
)

// A Program is the other end of a conversation: a child process, or the one that has started this one.
type Program struct {
	name  string        // for people
	limit time.Duration // of an answer; 0: none
	line  int           // lines that it has said

	write chan []byte
	wrote chan error
	read  chan said
	quit  chan struct{}
	once  sync.Once
	input io.Closer // of the program, or nil

	process *exec.Cmd // nil without a child
	output  io.Closer
	exited  chan struct{}
	errs    *tail
}

// said is what a program has said: a line without its end, or the error after the last one.
type said struct {
	text []byte
	err  error
}

// Errors of a program, with its name.
var (
	errHangs  = errors.New("it hangs")
	errGarble = errors.New("no line of the protocol")
)

// Own returns the program that has started this one.
func Own(in io.Reader, out io.Writer) *Program {
	p := &Program{name: "standard input"}
	p.talk(in, out)
	return p
}

// Start starts a command of the shell. An answer may take up to limit, and forever if that is 0. What it writes to its standard error goes to stderr.
func Start(command string, limit time.Duration, stderr io.Writer) (*Program, error) {
	p := &Program{name: command, limit: limit, exited: make(chan struct{}), errs: &tail{through: words.NewCleaner(stderr)}}
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C"}
	}
	p.process = exec.Command(shell[0], shell[1], command)
	p.process.Stderr, p.process.WaitDelay = p.errs, drainTime
	group(p.process)
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirs.Close(), in.Close())
	}
	p.process.Stdin, p.process.Stdout = theirs, theirOut
	err = p.process.Start()
	theirs.Close()
	theirOut.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", command, err), in.Close(), out.Close())
	}
	go func() {
		p.process.Wait() // the state of the process says it
		close(p.exited)
	}()
	p.input, p.output = in, out
	p.talk(out, in)
	return p, nil
}

// talk begins to read and write.
func (p *Program) talk(in io.Reader, out io.Writer) {
	p.write, p.wrote, p.read, p.quit = make(chan []byte), make(chan error, 1), make(chan said), make(chan struct{})
	go func() {
		for {
			select {
			case b := <-p.write:
				_, err := out.Write(b)
				p.wrote <- err
			case <-p.quit:
				return
			}
		}
	}()
	go func() {
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			text, err := readLine(r)
			select {
			case p.read <- said{text, err}:
			case <-p.quit:
				return
			}
			if err != nil {
				return
			}
		}
	}()
}

// readLine returns a line without its end.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return line[:maxLine], fmt.Errorf("%w: it is longer than %d bytes", errGarble, maxLine)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(line) > 0:
			return line, nil // the next call says io.EOF
		case err != nil:
			return nil, err
		default:
			return line[:len(line)-1], nil
		}
	}
}

// Ask says a line, and returns the answer, which is valid until the next call. It is io.EOF if the program has ended without a fault.
func (p *Program) Ask(ctx context.Context, b []byte) ([]byte, error) {
	var late <-chan time.Time
	if p.limit > 0 {
		timer := time.NewTimer(p.limit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case s := <-p.read:
		if s.err == nil {
			p.line++
			return nil, p.Wrong("it was not asked: want one line for each line that it gets, got %s", quoted(s.text))
		}
		return nil, p.ended(s.err)
	default:
	}
	p.write <- b // the writer has nothing else to do
	select {
	case err := <-p.wrote:
		if err != nil {
			return nil, p.ended(io.EOF)
		}
	case <-late:
		return nil, p.hangs("does not read its standard input")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	exited := p.exited
	for {
		select {
		case s := <-p.read:
			if s.err != nil {
				return nil, p.ended(s.err)
			}
			p.line++
			return s.text, nil
		case <-exited: // a process that it has started may keep its output open
			exited, late = nil, time.After(drainTime)
		case <-late:
			if exited == nil && p.exited != nil {
				return nil, p.ended(io.EOF)
			}
			return nil, p.hangs("has not answered")
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Wrong is the error of the line that the program said last.
func (p *Program) Wrong(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: %s", p.name, p.line, fmt.Sprintf(format, args...))
}

// quoted returns the beginning of a line for people.
func quoted(line []byte) string {
	if len(line) <= maxQuoted {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q…", line[:maxQuoted])
}

func (p *Program) hangs(what string) error {
	return fmt.Errorf("%s: %w: after line %d it %s for %v, see --bot-time%s", p.name, errHangs, p.line, what, p.limit, p.errs.last())
}

// ended returns why the program says nothing more. It waits a little for its exit.
func (p *Program) ended(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		if errors.Is(err, errGarble) {
			return fmt.Errorf("%s: line %d: %w", p.name, p.line+1, err)
		}
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if p.process == nil {
		return io.EOF
	}
	select {
	case <-p.exited:
	case <-time.After(endingTime):
		return fmt.Errorf("%s: it has closed its standard output after line %d, and goes on%s", p.name, p.line, p.errs.last())
	}
	if s := p.process.ProcessState; !s.Success() {
		return fmt.Errorf("%s: it ended after line %d: %s%s", p.name, p.line, s, p.errs.last())
	}
	return io.EOF
}

// Close ends the conversation. A child process has a moment to end by itself if it is asked to; then it and all that it has started are killed.
func (p *Program) Close(asked bool) {
	p.once.Do(func() {
		close(p.quit)
		if p.process == nil {
			return
		}
		p.input.Close()
		if asked {
			select {
			case <-p.exited:
			case <-time.After(endingTime):
			}
		}
		kill(p.process)
		<-p.exited
		p.output.Close()
	})
}

// A tail passes text on, and keeps its end.
type tail struct {
	through io.Writer
	mu      sync.Mutex
	kept    []byte
}

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if extra := len(t.kept) - maxLast; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	_, err := t.through.Write(b)
	return len(b), err
}

// last returns the last lines, for the end of an error.
func (t *tail) last() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "?")), "\n")
	if len(lines) > lastLines {
		lines = lines[len(lines)-lastLines:]
	}
	if lines[0] == "" {
		return ""
	}
	return "; its last lines:\n  " + strings.Join(lines, "\n  ")
}
