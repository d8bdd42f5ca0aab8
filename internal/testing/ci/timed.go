package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// runTimed is the command "ci timed FILE PROGRAM ARGS", which "go test -exec" calls. It runs a test binary, and appends
// its seconds of processor time, with those of the processes that it waited for, to a file: "3.21 FOLDER". It returns the exit code.
func runTimed(args []string) (int, error) {
	if len(args) < 2 {
		return 2, fmt.Errorf("ci: timed: want a file and a program")
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 2, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT) // go test sends SIGQUIT when the time is over
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // an error says that it has ended
		}
	}()
	err := cmd.Wait()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		return 2, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return 2, err
	}
	f, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 2, err
	}
	defer f.Close()
	p := cmd.ProcessState
	if _, err := fmt.Fprintf(f, "%.2f %s\n", (p.UserTime() + p.SystemTime()).Seconds(), dir); err != nil {
		return 2, err
	}
	if code := p.ExitCode(); code >= 0 {
		return code, nil
	}
	return 1, nil // ended by a signal
}
