package front

import (
	"net/http"
	"net/netip"
	"testing"
)

// The client is the last address that is no trusted proxy, and the claims of others mean nothing.
func TestClient(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8:9::/48")}
	for _, x := range []struct{ remote, header, value, want string }{
		{"203.0.113.9:1", XForwardedFor, "198.51.100.1", "203.0.113.9"},
		{"192.0.2.1:1", XForwardedFor, "198.51.100.1, 203.0.113.9", "203.0.113.9"},
		{"192.0.2.1:1", XForwardedFor, "203.0.113.9, 192.0.2.1", "203.0.113.9"},
		{"192.0.2.1:1", XForwardedFor, "203.0.113.9, unknown", "192.0.2.1"},
		{"[2001:db8:9::2]:1", XForwardedFor, "203.0.113.9,192.0.2.1", "203.0.113.9"},
		{"192.0.2.1:1", Forwarded, `for="[2001:db8::1]:80";proto=https, for=203.0.113.9`, "203.0.113.9"},
		{"192.0.2.2:1", Forwarded, "for=203.0.113.9", "192.0.2.2"},
	} {
		p := Proxies{Trusted: trusted, Header: x.header}
		from, forwarded := p.Client(&http.Request{RemoteAddr: x.remote, Header: http.Header{x.header: {x.value}}})
		if from.Addr().String() != x.want || forwarded != p.Include(x.remote) {
			t.Errorf("%s, %s: %s: got %v %v, want %s", x.remote, x.header, x.value, from, forwarded, x.want)
		}
	}
}

// This machine is a loopback address under a loopback name, and no proxy.
func TestIsHere(t *testing.T) {
	for _, x := range []struct {
		remote, host, header string
		want                 bool
	}{
		{"127.0.0.1:1", "localhost:8766", "", true},
		{"[::1]:1", "[::1]:8766", "", true},
		{"127.0.0.1:1", "play.example", "", false},
		{"192.0.2.1:1", "localhost", "", false},
		{"127.0.0.1:1", "localhost", XForwardedFor, false},
		{"127.0.0.1:1", "localhost", Forwarded, false},
	} {
		r := &http.Request{RemoteAddr: x.remote, Host: x.host, Header: http.Header{}}
		if x.header != "" {
			r.Header.Set(x.header, "127.0.0.1")
		}
		if got := IsHere(r); got != x.want {
			t.Errorf("%v: got %v", x, got)
		}
	}
}

// A name or an address is allowed, and a pattern or a network is an error.
func TestAllowedHosts(t *testing.T) {
	for _, wrong := range []string{"", "*.example", "play.example/x", "192.0.2.0/24", "a b"} {
		if _, err := NewHosts([]string{wrong}, nil); err == nil {
			t.Errorf("%q: got no error", wrong)
		}
	}
	h, err := NewHosts([]string{"Play.example.", "2001:db8::7"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{"play.EXAMPLE:80": true, "[2001:db8::7]:1": true, "x.localhost": true, "evil.example": false, "": false} {
		if got := h.Allow(&http.Request{Host: host}); got != want {
			t.Errorf("%q: got %v", host, got)
		}
	}
}

// A page of the host itself or of a listed one may open a WebSocket, and no other.
func TestOrigins(t *testing.T) {
	o := Origins{"*.play.example", "https://other.example"}
	for origin, want := range map[string]bool{
		"http://own.example": true, "http://a.play.example": true, "https://other.example": true,
		"http://other.example": false, "http://evil.example": false, "null": false,
	} {
		if got := o.Allow(origin, "own.example"); got != want {
			t.Errorf("%s: got %v", origin, got)
		}
	}
	if (Origins{"play.example/x"}).Check() == nil || o.Check() != nil {
		t.Error("got the wrong patterns")
	}
}
