//go:build !js

package netload

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

// A Server is "samestep serve" in a process of its own, to put it under load.
type Server struct {
	process *exec.Cmd
	URL     string // ws://HOST:PORT, or wss:
}

// StartServer starts serve on a free loopback port, unless the flags say otherwise. Its warnings go to log.
func StartServer(program string, log io.Writer, flags []string) (*Server, error) {
	return startAs([]string{program}, log, flags)
}

// startAs is StartServer with a program that begins the command.
func startAs(command []string, log io.Writer, flags []string) (*Server, error) {
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
	s := &Server{process: p}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on http"); ok {
			s.URL = "ws" + url
			go io.Copy(io.Discard, out)
			return s, nil
		}
	}
	s.Stop()
	return nil, errors.New("the server did not start")
}

// Address returns where the server listens, as HOST:PORT.
func (s *Server) Address() string {
	_, address, _ := strings.Cut(s.URL, "://")
	return address
}

// Stop kills the server.
func (s *Server) Stop() {
	s.process.Process.Kill() // there is nothing to complete
	s.process.Wait()
}

// proc returns field n of a file in /proc after skip, or 0 on other systems than Linux.
func (s *Server) proc(file, skip string, n int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.process.Process.Pid, file))
	_, rest, _ := strings.Cut(string(b), skip)
	fields := strings.Fields(rest)
	if n >= len(fields) {
		return 0
	}
	value, _ := strconv.ParseInt(fields[n], 10, 64)
	return value
}

// CPU returns the server's CPU time, on Linux.
func (s *Server) CPU() time.Duration {
	ticks := s.proc("stat", ") ", 11) + s.proc("stat", ") ", 12) // user and system
	return time.Duration(ticks) * (time.Second / 100)            // USER_HZ is 100 on every Linux
}

// Resident returns the bytes of the server's memory, on Linux.
func (s *Server) Resident() int64 { return s.proc("statm", "", 1) * int64(os.Getpagesize()) }
