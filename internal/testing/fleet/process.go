//go:build unix

package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A Process is a node or a server.
type Process struct {
	Name string
	URL  string

	command *exec.Cmd
	ended   chan struct{}
}

// startTime is how long a process may take until it says where it is.
const startTime = time.Minute

// Run starts a program, and waits for the line with its URL after a prefix. What it logs is in the file NAME.log of the folder.
func Run(ctx context.Context, dir, name, prefix string, line []string) (*Process, error) {
	p := &Process{Name: name, command: exec.Command(line[0], line[1:]...), ended: make(chan struct{})}
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p.command.Stderr = log
	out, err := p.command.StdoutPipe()
	if err == nil {
		err = p.command.Start()
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	found := make(chan string, 1)
	go func() {
		defer close(p.ended)
		defer log.Close()
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if url, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				select {
				case found <- strings.TrimSuffix(strings.TrimSpace(url), "/"):
				default:
				}
			}
		}
		p.command.Wait()
	}()
	timeout := time.NewTimer(startTime)
	defer timeout.Stop()
	select {
	case p.URL = <-found:
		return p, nil
	case <-p.ended:
		err = errors.New("it ended")
	case <-timeout.C:
		err = fmt.Errorf("it is not there after %v", startTime)
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.Kill()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("fleet: %s: %w: %s", name, err, text)
}

// Kill ends the process at once.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Stop asks the process to end, and waits for it.
func (p *Process) Stop() {
	p.Signal(syscall.SIGTERM)
	<-p.ended
}

// Wait waits until the process has ended.
func (p *Process) Wait() { <-p.ended }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Pause stops the process without its knowledge, until Continue.
func (p *Process) Pause() { p.Signal(syscall.SIGSTOP) }

// Continue lets a paused process go on.
func (p *Process) Continue() { p.Signal(syscall.SIGCONT) }

// Signal sends a signal; not to a process that has ended.
func (p *Process) Signal(s syscall.Signal) { _ = p.command.Process.Signal(s) }
