//go:build unix && !solaris && !aix

package attack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

var _ = register(&Attack{
	Row: 14, Name: "files", About: "symbolic links and folders where the demo writes, and named pipes where a replay is read",
	Run: func(ctx context.Context, h *Attackers) error {
		return h.repeat(ctx, 1, 5, h.plant)
	},
})

const precious = "precious"

// plant makes links and a named pipe, and runs a command of samestep on them.
func (h *Attackers) plant(ctx context.Context, n int) error {
	root := filepath.Join(h.Dir, fmt.Sprint("planted-", randomText()[:8]))
	temp, victim, pipe := filepath.Join(root, "temp"), filepath.Join(root, "victim"), filepath.Join(root, "pipe.ssr")
	shared := filepath.Join(temp, "samestep-demo") // the name that the demo once used
	err := errors.Join(
		os.MkdirAll(shared, 0o777), os.WriteFile(victim, []byte(precious), 0o644), syscall.Mkfifo(pipe, 0o600),
		os.Symlink(victim, filepath.Join(shared, "skirmish.ssr")), os.Symlink(victim, filepath.Join(root, "skirmish.ssr")))
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	commands := [][]string{
		{"replay", "info", pipe},
		{"replay", "verify", pipe},
		{"demo", "--seconds", "2", "--config", `{"Units":100}`, "--players", "2"},
		{"demo", "--seconds", "2", "--config", `{"Units":100}`, "--players", "2", "--dir", root},
	}
	args := commands[n%len(commands)]
	short, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	p := exec.CommandContext(short, h.Program, args...)
	p.Dir, p.Env = root, append(os.Environ(), "TMPDIR="+temp)
	p.WaitDelay = time.Second
	err = p.Run()
	if ctx.Err() != nil {
		return nil // the time is over, and the program was killed
	}
	h.try(args[0])
	switch {
	case short.Err() != nil:
		h.win("%v does not end", args[:2])
	case args[0] == "replay" && err == nil:
		h.win("%v reads a pipe", args[:2])
	}
	if b, err := os.ReadFile(victim); string(b) != precious {
		h.win("%v wrote through a link: %v", args[:1], err)
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == victim {
			return err
		}
		if st, err := d.Info(); err == nil && st.Mode().Perm()&0o077 != 0 {
			h.win("others can read %s: %v", filepath.Base(path), st.Mode())
		}
		return nil
	})
}
