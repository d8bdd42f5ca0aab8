//go:build !js

package server_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/server"
)

// Attack 12 of the review: with DNS rebinding a page has the same foreign name as Host and Origin. It can neither
// upgrade nor read nor post.
func TestForeignHosts(t *testing.T) {
	s := newStage(t, setup{options: server.Options{AllowedHosts: []string{"Game.example", "2001:db8::7"}, NewMatch: newMatch}})
	_, port, _ := strings.Cut(s.host, ":")
	for _, x := range []struct {
		host string
		in   bool
	}{
		{s.host, true},
		{"127.0.0.1", true},
		{"127.9.9.9:1", true},
		{"localhost:" + port, true},
		{"LOCALHOST.", true},
		{"duel.localhost", true},
		{"[::1]:" + port, true},
		{"game.example", true},
		{"GAME.example.:8766", true},
		{"[2001:db8::7]:80", true},

		{"evil.example:" + port, false},
		{"evil.example", false},
		{"game.example.evil.example", false},
		{"evil-game.example", false},
		{"localhost.evil.example", false},
		{"evillocalhost", false},
		{"127.0.0.1.evil.example", false},
		{"127.0.0.1.nip.example:" + port, false},
		{"203.0.113.9:" + port, false},
		{"[2001:db8::8]", false},
		{"0.0.0.0:" + port, false},
		{"2130706433", false}, // 127.0.0.1 as one number
		{"", false},
	} {
		for _, request := range []struct {
			line, more string
			status     int // if it comes in
		}{
			{"GET /matches", "", 200},
			{"GET /matches/duel", "", 200},
			{"GET /metrics", "Authorization: Bearer " + ops + "\r\n", 200},
			{"POST /matches", "Authorization: Bearer " + ops + "\r\n", 400},
			{"POST /matches/duel/kick", "Authorization: Bearer " + ops + "\r\n", 400},
			{"GET /matches/duel/play", "Origin: http://" + x.host + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
				"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: " + server.Subprotocol + "\r\n", 101},
		} {
			c := s.dialRaw(t)
			fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", request.line, x.host, request.more)
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := http.StatusForbidden
			if x.in {
				want = request.status
			}
			if answer.StatusCode != want {
				t.Errorf("%s with the host %q: got %d, want %d", request.line, x.host, answer.StatusCode, want)
			}
			c.Close()
		}
	}
	if _, body := s.ask(t, "GET", "/metrics", "", ""); !strings.Contains(body, `samestep_turned_away_total{reason="host"} 78`) {
		t.Errorf("the metrics do not count them:\n%s", body)
	}
}

// A pattern or a network among the allowed hosts would match no request, so the server does not begin.
func TestAllowedHosts(t *testing.T) {
	for _, good := range []string{"play.example", "PLAY.example.", "play.example:443", "10.0.0.1", "[2001:db8::7]:80", "2001:db8::7", "a_b"} {
		if _, err := server.New(server.Options{AllowedHosts: []string{good}}); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"*", "*.example", "10.0.0.0/8", "2001:db8::/32", "http://play.example", "play.example/game", "a.example,b.example", "a b", ".", "", "play..example", "über.example"} {
		if _, err := server.New(server.Options{AllowedHosts: []string{"play.example", bad}}); err == nil || !strings.Contains(err.Error(), strconv.Quote(bad)) {
			t.Errorf("%q: got %v, want an error with it", bad, err)
		}
	}
}
