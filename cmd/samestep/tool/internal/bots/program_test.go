//go:build unix && !js

package bots

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// ask starts a command of the shell, asks it some times, and returns the last answer.
func ask(t *testing.T, command string, limit time.Duration, times int) (answer string, errs string, err error) {
	t.Helper()
	_, missing := exec.LookPath("sh")
	testenv.Or(t, "sh", missing)
	var through bytes.Buffer
	p, err := Start(command, limit, &through)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		p.Close(err == nil)
		errs = through.String()
	}()
	for i := range times {
		var b []byte
		if b, err = p.Ask(t.Context(), fmt.Appendf(nil, "%d\n", i)); err != nil {
			return "", "", err
		}
		answer = string(b)
	}
	return answer, "", nil
}

func TestProgramAnswers(t *testing.T) {
	answer, errs, err := ask(t, "echo begun >&2; while read line; do echo got $line; done", time.Minute, 3)
	if err != nil || answer != "got 2" || errs != "begun\n" {
		t.Errorf("got %q, standard error %q, %v", answer, errs, err)
	}
}

// A foolish program gets an error that says what it did, and when.
func TestFoolishPrograms(t *testing.T) {
	const exit = "; its last lines:\n  Traceback\n  no such thing"
	for _, c := range []struct {
		name, command string
		times         int
		want          string
	}{
		{"hangs", "read line; echo a; read line; echo slow >&2; sleep 60", 2, ": it hangs: after line 1 it has not answered for 100ms, see --bot-time; its last lines:\n  slow"},
		{"exits", "read line; echo a; read line; printf 'Traceback\\nno such thing\\n' >&2; exit 3", 2, ": it ended after line 1: exit status 3" + exit},
		{"exits before it reads", "printf 'Traceback\\nno such thing\\n' >&2; exit 3", 9, ": it ended after line 0: exit status 3" + exit},
		{"is killed", "read line; kill -9 $$", 1, ": it ended after line 0: signal: killed"},
		{"leaves its output to another", "read line; sleep 60 & exit 4", 1, ": it ended after line 0: exit status 4"},
		{"says a long line", "read line; head -c 2000000 /dev/zero; sleep 60", 1, fmt.Sprintf(": line 1: no line of the protocol: it is longer than %d bytes", maxLine)},
		{"speaks unasked", "while read line; do echo a; echo b; done", 1000, `it was not asked: want one line for each line that it gets, got "`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			limit := 10 * time.Second
			if c.name == "hangs" {
				limit = 100 * time.Millisecond
			}
			_, _, err := ask(t, c.command, limit, c.times)
			if err == nil || !strings.HasPrefix(err.Error(), c.command+":") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s%s", err, c.command, c.want)
			}
		})
	}
	if _, _, err := ask(t, "read line; exit 0", time.Minute, 1); err != io.EOF { // control: this is its right
		t.Errorf("a program that ends: got %v, want %v", err, io.EOF)
	}
}

// A program that does not read ends no verb.
func TestDeafProgram(t *testing.T) {
	p, err := Start("sleep 60", 100*time.Millisecond, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(false)
	if _, err := p.Ask(t.Context(), make([]byte, 1<<20)); !errors.Is(err, errHangs) || !strings.Contains(err.Error(), "does not read its standard input") {
		t.Errorf("got %v, want that it does not read", err)
	}
}

// An interrupt ends the wait for an answer.
func TestInterruptedProgram(t *testing.T) {
	p, err := Start("sleep 60", 0, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(false)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Ask(ctx, []byte("a\n")); err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}

// A program and all that it has started are gone when its conversation ends.
func TestNothingSurvives(t *testing.T) {
	for _, asked := range []bool{false, true} {
		dir := t.TempDir()
		p, err := Start("sleep 600 & echo $! > "+filepath.Join(dir, "child")+"; read line; echo a; cat > /dev/null; exit 0", time.Minute, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Ask(t.Context(), []byte("a\n")); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "child"))
		if err != nil {
			t.Fatal(err)
		}
		child, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(child, 0); err != nil {
			t.Fatalf("control: the child of the program does not run: %v", err)
		}
		p.Close(asked)
		for wait := time.Millisecond; running(child); wait *= 2 {
			if wait > 5*time.Second {
				t.Fatalf("asked %v: the child of the program runs", asked)
			}
			time.Sleep(wait)
		}
	}
}

// running reports whether a process runs. Nobody may have collected one that was killed.
func running(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		return !strings.Contains(string(b), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
}

func TestTail(t *testing.T) {
	var through bytes.Buffer
	tail := &tail{through: &through}
	for i := range 1000 {
		fmt.Fprintf(tail, "line %d\n", i)
	}
	if got := tail.last(); !strings.HasSuffix(got, "\n  line 998\n  line 999") || strings.Count(got, "\n") != lastLines || len(tail.kept) > maxLast || through.Len() < 8000 {
		t.Errorf("got %q, kept %d bytes, passed on %d", got, len(tail.kept), through.Len())
	}
}
