//go:build !js

package serving

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/server"
)

// A binding is an open listener that the server does not serve yet.
type binding struct {
	net.Listener
	tls   *tls.Config // nil without a certificate
	files reloader    // the certificate's
	path  string      // of base-path, with a slash at both ends
}

// bind opens the listener of --listen.
func bind(c *cli.Context) (*binding, error) {
	b, err := newBinding(c)
	if err == nil {
		b.Listener, err = listenOn(c.String("listen"))
	}
	return b, err
}

// newBinding returns a binding that has no listener yet.
func newBinding(c *cli.Context) (*binding, error) {
	b := &binding{path: c.String("base-path")}
	if b.path != "/" && (b.path[:min(len(b.path), 1)] != "/" || path.Clean(b.path)+"/" != b.path || b.path == "//") {
		return nil, console.Usagef("base-path: got %q, want a path such as /game/", b.path)
	}
	cert, key := c.String("tls-cert"), c.String("tls-key")
	if (cert == "") != (key == "") {
		return nil, console.Usagef("--tls-cert and --tls-key go together")
	}
	if cert != "" {
		var x certificate
		if err := x.load(cert, key); err != nil {
			return nil, err
		}
		file := newReloadable("tls-cert", func(*server.Server, *slog.Logger) error { return x.load(cert, key) }, cert, key)
		file.pair = x.pair.Load
		b.files = reloader{file}
		b.tls = &tls.Config{GetCertificate: x.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
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
		return nil, console.Usagef("--listen systemd: got %d sockets from systemd, want 1 of a stream", len(all))
	}
	return all[0], nil
}

// listenUnix listens on a unix socket, to which the user and the group may connect. A socket that a killed server has
// left is replaced.
func listenUnix(file string) (net.Listener, error) {
	if info, err := os.Lstat(file); err == nil && info.Mode().Type() == fs.ModeSocket {
		if c, err := net.Dial("unix", file); err == nil {
			c.Close()
			return nil, console.Usagef("--listen: another process serves the unix socket %s", file)
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
