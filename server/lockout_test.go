//go:build !js

package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/seed-49bee653/samestep/server"
)

// ways are how a proxy can name its client. Each sends a request of a client through the proxy at 192.0.2.1, and
// returns the status.
var ways = []struct {
	name    string
	options server.Options
	ask     func(t *testing.T, s *stage, client string) int
}{
	{"X-Forwarded-For", server.Options{}, func(t *testing.T, s *stage, client string) int {
		return guess(t, s, "192.0.2.1:1", nil, "X-Forwarded-For: "+client)
	}},
	{"Forwarded", server.Options{ProxyHeader: "Forwarded"}, func(t *testing.T, s *stage, client string) int {
		return guess(t, s, "192.0.2.1:1", nil, "Forwarded: for="+client)
	}},
	{"unix", server.Options{TrustUnix: true}, func(t *testing.T, s *stage, client string) int {
		return guess(t, s, "@", nil, "X-Forwarded-For: "+client)
	}},
	{"PROXY 1", server.Options{ProxyProtocol: true}, func(t *testing.T, s *stage, client string) int {
		return guess(t, s, "192.0.2.1:1", proxyHeader(t, 1, client), "X-Forwarded-For: 198.51.100.99")
	}},
	{"PROXY 2", server.Options{ProxyProtocol: true}, func(t *testing.T, s *stage, client string) int {
		return guess(t, s, "192.0.2.1:1", proxyHeader(t, 2, client), "X-Forwarded-For: 198.51.100.99")
	}},
}

func proxyHeader(t *testing.T, version byte, client string) []byte {
	from, to := netip.MustParseAddrPort(client+":4321"), netip.MustParseAddrPort("192.0.2.1:80")
	b, err := proxyproto.HeaderProxyFromAddrs(version, net.TCPAddrFromAddrPort(from), net.TCPAddrFromAddrPort(to)).Format()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// guess asks for the bans of a match with a wrong token, on a connection that begins with some bytes.
func guess(t *testing.T, s *stage, from string, first []byte, header string) int {
	t.Helper()
	c, err := s.pipes.dialFrom(from)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	go fmt.Fprintf(c, "%sGET /matches/duel/bans HTTP/1.1\r\nHost: server\r\nAuthorization: Bearer wrong-wrong-wrong-wrong\r\n%s\r\n\r\n", first, header)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode
}

// Twenty wrong tokens of one client lock out that client, and no other client of the same proxy. The log names it.
func TestLockoutBehindProxy(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			o := way.options
			o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
			inBubble(t, setup{options: o}, func(t *testing.T, s *stage) {
				for i := range 21 {
					want := http.StatusForbidden
					if i == 20 {
						want = http.StatusTooManyRequests
					}
					if got := way.ask(t, s, "203.0.113.1"); got != want {
						t.Fatalf("guess %d: got %d, want %d", i+1, got, want)
					}
				}
				if got := way.ask(t, s, "203.0.113.2"); got != http.StatusForbidden {
					t.Errorf("another client: got %d, want %d", got, http.StatusForbidden)
				}
				synctest.Wait()
				for _, client := range []string{"203.0.113.1", "203.0.113.2"} {
					if !strings.Contains(s.log.String(), "address="+client+" ") {
						t.Errorf("the log does not name %s", client)
					}
				}
			})
		})
	}
}

// The server reads one header only: a proxy passes on the other as its client sent it.
func TestForwarded(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8:9::/48")}
	for _, x := range []struct{ header, client string }{
		{`Forwarded: for=203.0.113.9`, "203.0.113.9"},
		{`Forwarded: proto=https; FOR="203.0.113.9:4711";by=192.0.2.1`, "203.0.113.9"},
		{`Forwarded: for=198.51.100.1, for=203.0.113.9;host="a,b;for=c"`, "203.0.113.9"},
		{`Forwarded: for="198.51.100.1\", for=203.0.113.8", for=203.0.113.9`, "203.0.113.9"},
		{`Forwarded: for=203.0.113.9, for="[2001:db8:9::5]:80"`, "203.0.113.9"},
		{`Forwarded: for="[2001:db8::5]:80"`, "2001:db8::5"},
		{`Forwarded: for=203.0.113.9, for=unknown`, "192.0.2.1"},
		{`Forwarded: for=203.0.113.9, proto=https`, "192.0.2.1"},
		{`Forwarded: for=203.0.113.9, for=_hidden`, "192.0.2.1"},
		{`X-Forwarded-For: 203.0.113.9`, "192.0.2.1"},
	} {
		inBubble(t, setup{options: server.Options{TrustedProxies: proxies, ProxyHeader: "Forwarded"}}, func(t *testing.T, s *stage) {
			guess(t, s, "192.0.2.1:1", nil, x.header)
			synctest.Wait()
			if !strings.Contains(s.log.String(), "address="+x.client+" ") {
				t.Errorf("%s: the log does not name %s:\n%s", x.header, x.client, s.log)
			}
		})
	}
	if _, err := server.New(server.Options{ProxyHeader: "X-Real-Ip"}); err == nil {
		t.Error("an unknown header was accepted")
	}
}

// A header of the PROXY protocol counts from trusted proxies only, and a proxy that sends none delays nobody.
func TestProxyProtocol(t *testing.T) {
	t.Parallel()
	o := server.Options{ProxyProtocol: true, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}}
	inBubble(t, setup{options: o}, func(t *testing.T, s *stage) {
		silent, err := s.pipes.dialFrom("192.0.2.1:1")
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		began := time.Now()
		if got := guess(t, s, "198.51.100.1:1", nil, "X: y"); got != http.StatusForbidden {
			t.Errorf("a client without a proxy: got %d, want %d", got, http.StatusForbidden)
		}
		if got := guess(t, s, "198.51.100.1:1", proxyHeader(t, 2, "203.0.113.1"), "X: y"); got != http.StatusBadRequest {
			t.Errorf("a client that pretends to be a proxy: got %d, want %d", got, http.StatusBadRequest)
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("a silent proxy delayed others by %v", waited)
		}
		silent.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := silent.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a silent proxy: got %v, want its connection closed", err)
		}
		local := []byte("\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00") // a health check of the proxy itself
		if got := guess(t, s, "192.0.2.1:1", local, "X: y"); got != http.StatusForbidden {
			t.Errorf("the proxy itself: got %d, want %d", got, http.StatusForbidden)
		}
	})
}
