//go:build unix

package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// beginAtOnce starts all processes, each after its pause. One that ends because the storage is not there yet is started again, as a
// supervisor does.
func (f *Fleet) beginAtOnce(ctx context.Context) error {
	o := &f.o
	if all := o.Nodes + o.Servers + o.Mirrors; len(o.Pauses) != all {
		return fmt.Errorf("fleet: got %d pauses, want %d", len(o.Pauses), all)
	}
	for _, address := range f.nodes {
		f.urls = append(f.urls, "nats://"+address)
	}
	f.Nodes, f.Servers, f.Mirrors = make([]*Process, o.Nodes), make([]*Process, o.Servers), make([]*Process, o.Mirrors)
	var starting sync.WaitGroup
	errs, n := make([]error, len(o.Pauses)), 0
	for _, kind := range []struct {
		all   []*Process
		start func(context.Context, int) (*Process, error)
	}{{f.Nodes, f.startNode}, {f.Servers, f.startServer}, {f.Mirrors, f.startMirror}} {
		for i := range kind.all {
			pause, failed := o.Pauses[n], &errs[n]
			n++
			starting.Go(func() {
				kind.all[i], *failed = again(ctx, pause, func() (*Process, error) { return kind.start(ctx, i) })
			})
		}
	}
	starting.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var err error
	if f.Conn, err = storage.Dial(strings.Join(f.urls, ","), o.Dial); err != nil {
		return err
	}
	return f.Conn.Learn(ctx)
}

// again starts a process after a pause, until it is there.
func again(ctx context.Context, pause time.Duration, start func() (*Process, error)) (p *Process, err error) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		if p, err = start(); err == nil {
			return p, nil
		}
		pause = 100 * time.Millisecond
	}
	return nil, errors.Join(ctx.Err(), err)
}
