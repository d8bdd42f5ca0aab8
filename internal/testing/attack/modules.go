package attack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/hostile"
)

// What verifying a replay with a hostile module may take, and the exit code of samestep for a bad file.
const (
	moduleTime = 20 * time.Second
	badFile    = 4
)

// quickModules are those on which a verb of samestep ends within a second.
var quickModules = []string{"loops", "labels", "grow", "deep", "answers", "start", "wide", "schema"}

var _ = register(&Attack{
	Row: 18, Name: "modules", About: "replays with hostile modules of rules are verified on the server's machine",
	Run: func(ctx context.Context, h *Attackers) error {
		return h.repeat(ctx, 1, 20, func(ctx context.Context, n int) error {
			name := quickModules[n%len(quickModules)]
			path := filepath.Join(h.Dir, "module-"+name+".ssr")
			b, err := hostile.Replay(hostile.Named(name).Bytes(), 100)
			if err == nil {
				err = os.WriteFile(path, b, 0o600)
			}
			if err != nil {
				return err
			}
			h.verifies(ctx, name, path)
			return nil
		})
	},
})

// verifies verifies a replay as a user does who was sent it.
func (h *Attackers) verifies(ctx context.Context, name, path string) {
	p := exec.CommandContext(ctx, h.Program, "replay", "verify", path)
	p.Env = append(os.Environ(), "XDG_CACHE_HOME="+h.Dir) // which keeps nothing of it
	from := time.Now()
	err := p.Run()
	if ctx.Err() != nil {
		return // the attack is over
	}
	took := time.Since(from)
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) || exit.ExitCode() != badFile || took > moduleTime {
		h.win("the module %s: got %v after %v, want exit code %d within %v", name, err, took, badFile, moduleTime)
	}
	h.try(fmt.Sprintf("exit %d", p.ProcessState.ExitCode()))
}
