//go:build !js

package gameset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/elsewhere"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// ApartVerb is the verb that computes ticks again in another process, see [desync.ComputeApart]. It has no flags and no help.
const ApartVerb = "compute-apart"

// apartTime is more than the ticks of a job take.
const apartTime = 20 * time.Second

// maxReason bounds the text of a process that has died.
const maxReason = 4 << 10

// ComputeApart is the program in the other process, elsewhere in the world.
func ComputeApart(list List, in io.Reader, out io.Writer) error {
	job, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	elsewhere.Zone()
	if _, err := elsewhere.Variables(); err != nil {
		return err
	}
	_, err = out.Write(desync.ComputeApart(job, list.Games().Of))
	return err
}

// Apart returns what computes ticks of the games again where nothing was computed before: a process of its own or, of a module, an instance
// that nobody has used. It returns nil if this process cannot start itself.
func (l List) Apart() func(job []byte) ([]byte, error) {
	self := StartsItself()
	modules := slices.ContainsFunc(l, func(g *Playable) bool { return g.Module != nil })
	if self == nil && !modules {
		return nil
	}
	return func(job []byte) ([]byte, error) {
		if modules {
			if g, err := l.module(job); g != nil || err != nil {
				return desync.ComputeApart(job, func(*lockstep.Header) (*lockstep.Game, error) { return g, err }), nil
			}
		}
		if self == nil {
			return nil, errors.New("this program cannot start itself")
		}
		ctx, stop := context.WithTimeout(context.Background(), apartTime)
		defer stop()
		return Output(self(ctx, ApartVerb), job, len(job)+1<<16) // of each tick at most one state
	}
}

// ApartFor returns apart of the games with which the match in a file is simulated.
func ApartFor(c *cli.Context, f *replay.File) func(job []byte) ([]byte, error) {
	list := Listed(c)
	if m := ModulesOf(c); m != nil {
		list, _ = m.OfFile(f) // of whose error the verb tells
	}
	return list.Apart()
}

// module returns the game of a job in new instances if a module has its rules, or nil.
func (l List) module(job []byte) (*lockstep.Game, error) {
	var of struct{ Header *lockstep.Header }
	if err := json.Unmarshal(job, &of); err != nil {
		return nil, err
	}
	g, err := l.Of(of.Header)
	if err != nil || g.Module == nil {
		return nil, nil // which the program has
	}
	return g.Side(g.Build()).Game(g.Module.Rules.Fresh(g.Module.Budget))
}

// Output runs a process, and returns what it has printed, if that is not too much. Its error has the first line of the other output.
func Output(c *exec.Cmd, in []byte, most int) ([]byte, error) {
	out, errs := &beginning{most: most}, &beginning{most: maxReason}
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = bytes.NewReader(in), out, errs, time.Second
	err := c.Run()
	if out.all > most {
		err = fmt.Errorf("got %d bytes of output, want at most %d", out.all, most)
	}
	if first, _, _ := strings.Cut(errs.String(), "\n"); err != nil && first != "" {
		err = fmt.Errorf("%w: %s", err, first)
	}
	return out.Bytes(), err
}

// A beginning keeps the first bytes of a text.
type beginning struct {
	bytes.Buffer
	most, all int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.all += len(p)
	b.Buffer.Write(p[:min(len(p), b.most-b.Len())])
	return len(p), nil
}
