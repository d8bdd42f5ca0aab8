//go:build !js

package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/seed-49bee653/samestep/server"
)

// The metrics, and replays with Options.ReplaysHere, are for this machine and for admins. What comes through a proxy does not come from
// this machine, also if nobody has named the proxy.
func TestOnlyHere(t *testing.T) {
	s := newStage(t, setup{options: server.Options{
		Replays: true, ReplaysHere: true, AllowedHosts: []string{"play.example"}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")},
	}})
	for _, x := range []struct {
		name, from, host, header, value, token string
		want                                   int
	}{
		{"here", "127.0.0.1:9", "127.0.0.1:8766", "", "", "", 200},
		{"here, by name", "[::1]:9", "localhost", "", "", "", 200},
		{"mapped", "[::ffff:127.0.0.1]:9", "localhost", "", "", "", 200},
		{"elsewhere", "203.0.113.1:9", "play.example", "", "", "", 403},
		{"elsewhere, with our name", "203.0.113.1:9", "localhost", "", "", "", 403},
		{"a player elsewhere", "203.0.113.1:9", "play.example", "", "", ada, 403},
		{"an admin elsewhere", "203.0.113.1:9", "play.example", "", "", ops, 200},
		{"a proxy that nobody has named", "127.0.0.1:9", "play.example", "", "", "", 403},
		{"one that names its client", "127.0.0.1:9", "localhost", "X-Forwarded-For", "127.0.0.1", "", 403},
		{"one that names it otherwise", "127.0.0.1:9", "localhost", "Forwarded", "for=127.0.0.1", "", 403},
		{"a proxy", "127.0.0.9:9", "localhost", "X-Forwarded-For", "203.0.113.1", "", 403},
		{"a unix socket", "@", "localhost", "", "", "", 403},
	} {
		for _, path := range []string{"/metrics", "/replays"} {
			r := httptest.NewRequest(http.MethodGet, "http://"+x.host+path, nil)
			r.RemoteAddr = x.from
			if x.header != "" {
				r.Header.Set(x.header, x.value)
			}
			if x.token != "" {
				r.Header.Set("Authorization", "Bearer "+x.token)
			}
			w := httptest.NewRecorder()
			s.server.ServeHTTP(w, r)
			if w.Code != x.want {
				t.Errorf("%s: %s: got %d %s, want %d", x.name, path, w.Code, w.Body, x.want)
			}
		}
	}
}
