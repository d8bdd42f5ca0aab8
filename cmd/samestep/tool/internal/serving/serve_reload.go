//go:build !js

package serving

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/server"
)

// reloadEvery is how often a server looks whether its files have changed.
const reloadEvery = 5 * time.Second

// A reloadable is one or more files that an operator may replace while the server runs.
type reloadable struct {
	flag   string
	paths  []string
	read   func(*server.Server, *slog.Logger) error // an error changes nothing
	pair   func() *tls.Certificate                  // that was read; nil of other files
	stamp  string                                   // of the files when they were read last
	failed atomic.Bool                              // the last reading
}

// newReloadable returns files of a flag that were just read.
func newReloadable(flag string, read func(*server.Server, *slog.Logger) error, paths ...string) *reloadable {
	r := &reloadable{flag: flag, paths: paths, read: read}
	r.stamp = r.now()
	return r
}

// now returns the stamp of the files as they are. It looks at them through links, so that a replaced link counts too.
func (r *reloadable) now() string {
	var b strings.Builder
	for _, path := range r.paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&b, info.ModTime().UnixNano(), info.Size())
		} else {
			fmt.Fprintln(&b, "gone")
		}
	}
	return b.String()
}

// A reloader has all files of a server that can be replaced.
type reloader []*reloadable

// measure adds the metrics of the files to those of a server.
func (all reloader) measure(o *server.Options) {
	for _, r := range all {
		o.Metrics = append(o.Metrics, measure.Reload(r.flag, r.failed.Load))
		if r.pair != nil {
			o.Metrics = append(o.Metrics, measure.Certificate(r.flag, r.pair))
		}
	}
}

// watch reads files again that have changed, and all at each SIGHUP, until stop is called. A SIGHUP, such as that of
// a terminal that closes, never ends a server.
func (all reloader) watch(s *server.Server, log *slog.Logger, every time.Duration) (stop func()) {
	hung, done := make(chan os.Signal, 1), make(chan struct{})
	if len(hangup) > 0 {
		signal.Notify(hung, hangup...)
	}
	tick := time.NewTicker(every)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			forced := false
			select {
			case <-tick.C:
			case <-hung:
				if forced = true; len(all) == 0 {
					log.Info("nothing to read again: the server has no --settings, --tokens, jwt-key or --tls-cert")
				}
			case <-done:
				return
			}
			for _, r := range all {
				r.reload(s, log, forced)
			}
		}
	})
	return func() {
		signal.Stop(hung)
		tick.Stop()
		close(done)
		endWithin(time.Second, running.Wait)
	}
}

// endWithin calls f, and waits for it for a time at most: it may wait for a disk that does not answer.
func endWithin(most time.Duration, f func()) {
	ended := make(chan struct{})
	go func() {
		f()
		close(ended)
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}

// reload reads the files again if they have changed, or if it is forced.
func (r *reloadable) reload(s *server.Server, log *slog.Logger, forced bool) {
	stamp := r.now()
	if stamp == r.stamp && !forced {
		return
	}
	r.stamp = stamp
	err := r.read(s, log)
	r.failed.Store(err != nil)
	if err != nil {
		log.Error("not read again; what was read before stays valid", "flag", "--"+r.flag, "paths", r.paths, "err", err)
		return
	}
	log.Info("read again", "flag", "--"+r.flag, "paths", r.paths)
}

// A certificate is that of --tls-cert and --tls-key.
type certificate struct {
	pair atomic.Pointer[tls.Certificate]
}

func (x *certificate) load(cert, key string) error {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return err
	}
	x.pair.Store(&pair)
	return nil
}

// get is for tls.Config.GetCertificate.
func (x *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return x.pair.Load(), nil }

// hangup lists the signals at which files are read again.
var hangup = []os.Signal{syscall.SIGHUP}
