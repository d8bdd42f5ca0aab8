package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A loadServer is a server's process that is put under load.
type loadServer struct {
	process *exec.Cmd
	url     string // ws://HOST:PORT
}

// startLoadServer starts "samestep serve" on a free port of the loopback, with more
// flags. Its warnings go to log.
func startLoadServer(log io.Writer, flags []string) (*loadServer, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return startCommand(exe, log, flags)
}

// startCommand starts a server by the path of the program.
func startCommand(program string, log io.Writer, flags []string) (*loadServer, error) {
	p := exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0", "--quiet", "--web=false"}, flags...)...)
	p.Stderr = log
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	s := &loadServer{process: p}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on http"); ok {
			s.url = "ws" + url
			go io.Copy(io.Discard, out)
			return s, nil
		}
	}
	s.stop()
	return nil, errors.New("the server did not start")
}

func (s *loadServer) stop() {
	s.process.Process.Kill() // it has nothing to complete
	s.process.Wait()
}

// cpu returns the processor time that the server has used. It is known on Linux
// only.
func (s *loadServer) cpu() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * (time.Second / 100) // USER_HZ is 100 on every Linux
}

// residentBytes returns the server's memory, on Linux.
func (s *loadServer) residentBytes() int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// resident returns the server's memory in MB, on Linux.
func (s *loadServer) resident() float64 { return float64(s.residentBytes()) / 1e6 }
