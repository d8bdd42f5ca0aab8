//go:build unix

package line

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
)

// Some machines run no programs of 32 bits. An emulator then runs them, if one is installed.
func TestProgramsThatTheKernelRefuses(t *testing.T) {
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &side{name: "B", folder: t.TempDir()}
	s.binary = filepath.Join(s.folder, "rules.exe")
	write(s.binary, "\x7fELF of no kernel")

	tools := t.TempDir()
	t.Setenv("PATH", tools)
	if _, err := s.run(context.Background(), "job", program.Job{}); err == nil || err.Error() != "line: side B: qemu-i386 is not installed\n" {
		t.Errorf("without an emulator: got error %v", err)
	}
	write(filepath.Join(tools, "qemu-i386"), "#!/bin/sh\necho '{\"Error\": \"run '${1##*/}'\"}' > "+filepath.Join(s.folder, "job", program.ResultFile)+"\n")
	if _, err := s.run(context.Background(), "job", program.Job{}); err == nil || err.Error() != "line: side B: run rules.exe" {
		t.Errorf("with an emulator: got error %v", err)
	}
}
