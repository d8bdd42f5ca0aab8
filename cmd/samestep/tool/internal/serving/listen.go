//go:build !js

package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/server"
)

// A binding is an open listener that the server does not serve yet.
type binding struct {
	net.Listener
	tls   *tls.Config // nil without a certificate
	files reloader    // the certificate's
	path  string      // of base-path, with a slash at both ends
}

func newBinding(c *cli.Context) (*binding, error) {
	b := &binding{path: c.String("base-path")}
	if b.path != "/" && (b.path[:min(len(b.path), 1)] != "/" || path.Clean(b.path)+"/" != b.path || b.path == "//") {
		return nil, console.Wrongf(c, "base-path", "got %q, want a path such as /game/", b.path)
	}
	cert, key := c.String("tls-cert"), c.String("tls-key")
	if (cert == "") != (key == "") {
		return nil, console.Usagef("--tls-cert and --tls-key go together")
	}
	if cert != "" {
		var pair atomic.Pointer[tls.Certificate]
		load := func(*server.Server, *slog.Logger) error {
			p, err := tls.LoadX509KeyPair(cert, key)
			if err == nil {
				pair.Store(&p)
			}
			return err
		}
		if err := load(nil, nil); err != nil {
			return nil, err
		}
		file := newReloadable("tls-cert", load, cert, key)
		file.pair = pair.Load
		b.files = reloader{file}
		get := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.Load(), nil }
		b.tls = &tls.Config{GetCertificate: get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	return b, nil
}

// listenOn listens on "HOST:PORT", "unix:PATH" or "systemd".
func listenOn(address string) (net.Listener, error) {
	if file, ok := strings.CutPrefix(address, "unix:"); ok {
		return listenUnix(file)
	}
	if address != "systemd" {
		return net.Listen("tcp", address)
	}
	all, err := activation.Listeners()
	if err != nil {
		return nil, err
	}
	if len(all) != 1 || all[0] == nil {
		for _, l := range all {
			if l != nil {
				l.Close()
			}
		}
		return nil, console.Usagef("--listen systemd: got %d sockets from systemd, want 1 stream socket", len(all))
	}
	return all[0], nil
}

// listenUnix listens on a unix socket for the user and the group. It replaces a socket that a killed server has left.
func listenUnix(file string) (net.Listener, error) {
	if info, err := os.Lstat(file); err == nil && info.Mode().Type() == fs.ModeSocket {
		if c, err := net.Dial("unix", file); err == nil {
			c.Close()
			return nil, console.Usagef("another process serves the unix socket %s", file)
		}
		if err := os.Remove(file); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", file)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(file, 0o660); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// under returns the listener with the limits of a server, and with TLS.
func (b *binding) under(s *server.Server) net.Listener {
	l := s.Listener(b.Listener)
	if b.tls == nil {
		return l
	}
	return tls.NewListener(l, b.tls)
}

// url returns the address that the server got, for people.
func (b *binding) url() string {
	text := "http"
	if b.tls != nil {
		text = "https"
	}
	if b.Addr().Network() == "unix" {
		text = "unix:" + b.Addr().String()
	} else {
		text += "://" + b.Addr().String()
	}
	if b.path != "/" {
		text += b.path
	}
	return text
}

// underPath serves h below a path with a slash at both ends. Requests for other paths get 404, and the connection ends.
func underPath(base string, h http.Handler) http.Handler {
	if base == "/" {
		return h
	}
	below := http.StripPrefix(strings.TrimSuffix(base, "/"), h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, base):
			below.ServeHTTP(w, r)
		case r.URL.Path+"/" == base:
			http.Redirect(w, r, base, http.StatusMovedPermanently)
		default:
			w.Header().Set("Connection", "close")
			http.NotFound(w, r)
		}
	})
}

// datagramAddress returns the address of datagrams. Behind a proxy it is off by default: players know the address of the proxy.
func datagramAddress(c *cli.Context) string {
	if !c.IsSet("datagrams") && len(c.StringSlice("trusted-proxy")) > 0 {
		return "off"
	}
	return c.String("datagrams")
}

// datagramOrigins returns the origin of the datagrams, to which the pages of the server may connect; none if it is theirs.
func datagramOrigins(c *cli.Context) []string {
	address, public := datagramAddress(c), c.String("datagrams-public")
	if _, port, err := net.SplitHostPort(address); public == "" && err == nil && port != "0" {
		public = ":" + port
	}
	if public == "" || address == "off" {
		return nil
	}
	return []string{"https://" + public}
}

// serveDatagrams serves datagrams until stop is called. At the default address, that of the listener l, an error is only logged.
func serveDatagrams(s *server.Server, l net.Listener, address, public string, log *slog.Logger) (stop func(), err error) {
	none := func() {}
	tcp, isTCP := l.Addr().(*net.TCPAddr)
	usual := address == ""
	if usual && isTCP {
		address = tcp.String()
	}
	if address == "" || address == "off" {
		return none, nil
	}
	c, err := net.ListenPacket("udp", address)
	if err != nil && usual {
		log.Warn("no datagrams", "err", err)
		return none, nil
	}
	if err != nil {
		return nil, fmt.Errorf("datagrams: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.ServeDatagrams(ctx, c, public); err != nil {
			log.Error("datagrams failed", "err", err)
		}
	}()
	return func() {
		cancel()
		<-done
		c.Close()
	}, nil
}

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

func (all reloader) measure(o *server.Options) {
	for _, r := range all {
		o.Metrics = append(o.Metrics, measure.Reload(r.flag, r.failed.Load))
		if r.pair != nil {
			o.Metrics = append(o.Metrics, measure.Certificate(r.flag, r.pair))
		}
	}
}

// watch reloads files that have changed, and all at each SIGHUP, until stop is called. A SIGHUP never ends a server.
func (all reloader) watch(s *server.Server, log *slog.Logger, every time.Duration) (stop func()) {
	hung, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hung, syscall.SIGHUP)
	tick := time.NewTicker(every)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			forced := false
			select {
			case <-tick.C:
			case <-hung:
				if forced = true; len(all) == 0 {
					log.Info("nothing to reload: the server has no --settings, --tokens, jwt-key or --tls-cert")
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
		log.Error("reload failed; the previous content stays in effect", "flag", "--"+r.flag, "paths", r.paths, "err", err)
		return
	}
	log.Info("reloaded", "flag", "--"+r.flag, "paths", r.paths)
}
