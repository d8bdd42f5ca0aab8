//go:build !js

package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A serverProcess is "samestep serve" in a process of its own, to put it under load.
type serverProcess struct {
	process *exec.Cmd
	url     string // ws://HOST:PORT, or wss:
}

// startServer starts serve on a free loopback port, unless the flags say otherwise. Its warnings go to log.
func startServer(program string, log io.Writer, flags []string) (*serverProcess, error) {
	return startServerAs([]string{program}, log, flags)
}

// startServerAs is startServer with a program that begins the command.
func startServerAs(command []string, log io.Writer, flags []string) (*serverProcess, error) {
	args := slices.Concat(command, []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--set", "web=false"}, flags)
	p := exec.Command(args[0], args[1:]...)
	p.Stderr = log
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	s := &serverProcess{process: p}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on http"); ok {
			s.url = "ws" + url
			go io.Copy(io.Discard, out)
			return s, nil
		}
	}
	s.Stop()
	return nil, errors.New("the server did not start")
}

// Address returns where the server listens, as HOST:PORT.
func (s *serverProcess) Address() string {
	_, address, _ := strings.Cut(s.url, "://")
	return address
}

func (s *serverProcess) Stop() {
	s.process.Process.Kill() // there is nothing to complete
	s.process.Wait()
}

// proc returns field n of a file in /proc after skip, or 0 on other systems than Linux.
func (s *serverProcess) proc(file, skip string, n int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.process.Process.Pid, file))
	_, rest, _ := strings.Cut(string(b), skip)
	fields := strings.Fields(rest)
	if n >= len(fields) {
		return 0
	}
	value, _ := strconv.ParseInt(fields[n], 10, 64)
	return value
}

// cpu returns the server's CPU time, on Linux.
func (s *serverProcess) cpu() time.Duration {
	ticks := s.proc("stat", ") ", 11) + s.proc("stat", ") ", 12) // user and system
	return time.Duration(ticks) * (time.Second / 100)            // USER_HZ is 100 on every Linux
}

// resident returns the bytes of the server's memory, on Linux.
func (s *serverProcess) resident() int64 { return s.proc("statm", "", 1) * int64(os.Getpagesize()) }
