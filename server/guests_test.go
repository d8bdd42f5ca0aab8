//go:build !js

package server_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

func ExampleGuests() {
	var guests server.Guests
	g, err := guests.Authorize("guest:ada%20l:0123456789abcdef", "duel")
	fmt.Println(g.Name, g.Role == protocol.Seated, g.Seat == host.AnySeat, err)
	_, err = guests.Authorize("guest:ada:short", "duel")
	fmt.Println(err)
	// Output:
	// ada l true true <nil>
	// server: refused: not a valid guest token
}

func ExampleNewGuestToken() {
	token := server.NewGuestToken("ada l")
	g, err := server.Guests{}.Authorize(token, "duel")
	fmt.Println(strings.HasPrefix(token, "guest:ada%20l:"), g.Name, g.Guest, err)
	// Output: true ada l true <nil>
}

func TestGuestTokens(t *testing.T) {
	const secret = "0123456789abcdef"
	for _, bad := range []string{
		"", "guest:", "guest:ada", "guest:ada:" + secret[1:], "guest::" + secret, "ada:" + secret, "guest:%zz:" + secret,
		"guest:a%0Ab:" + secret, "guest:a%C2%85b:" + secret, "guest:%ff:" + secret, "guest:" + strings.Repeat("a", 65) + ":" + secret, "guest:ada:" + strings.Repeat("x", 1024),
	} {
		if _, err := (server.Guests{}).Authorize(bad, "duel"); !errors.Is(err, server.ErrRefused) {
			t.Errorf("%.40q: got %v", bad, err)
		}
	}
	first, _ := server.Guests{}.Authorize("guest:ada:"+secret, "duel")
	again, _ := server.Guests{}.Authorize("guest:ada:"+secret, "duel")
	other, _ := server.Guests{}.Authorize("guest:ada:"+secret+"x", "duel")
	renamed, _ := server.Guests{}.Authorize("guest:eve:"+secret, "duel")
	if first.Subject != again.Subject || first.Subject != renamed.Subject || first.Subject == other.Subject || strings.Contains(first.Subject, secret) {
		t.Errorf("subjects %q, %q, %q, %q", first.Subject, again.Subject, renamed.Subject, other.Subject)
	}
	newer, err := server.Guests{}.Authorize("guest:%F0%91%BC%84:"+secret, "duel") // a letter that only newer versions of Unicode know
	if first.Name != "ada" || renamed.Name != "eve" || newer.Name != "\U00011f04" {
		t.Errorf("names %q, %q, %q, %v", first.Name, renamed.Name, newer.Name, err)
	}
}

// Guests start matches up to a limit, and another one when one is over. OnStart is called for each.
func TestGuestMatches(t *testing.T) {
	began := make(chan string, 4)
	s := newStage(t, setup{options: server.Options{
		Authorizer: server.Guests{}, Limits: server.Limits{GuestMatches: 1},
		NewMatch: func(body io.Reader) (server.MatchSpec, error) {
			spec, err := newMatch(body)
			spec.OnStart = func(m *server.Match) { began <- m.Name() }
			return spec, err
		},
	}})
	const guest = "guest:eve:0123456789abcdef"
	post := func(token, body string) int {
		t.Helper()
		r, err := http.NewRequest("POST", "http://"+s.host+"/matches", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for _, x := range []struct {
		token, body string
		status      int
	}{
		{"nonsense", `{"Name":"one"}`, 403},
		{guest, `{"Name":"duel"}`, 409}, // which there is
		{guest, `no JSON`, 400},
	} {
		eventually(t, "the answer", func() bool { return post(x.token, x.body) == x.status })
	}
	eventually(t, "a match begins", func() bool { return post(guest, `{"Name":"one"}`) == 201 })
	if name := <-began; name != "one" {
		t.Errorf("%q began", name)
	}
	if got := post(guest, `{"Name":"two"}`); got != 503 {
		t.Errorf("a second match: got %d, want 503", got)
	}
	for _, m := range s.server.Matches() {
		if m.Name() == "one" {
			if err := m.End(t.Context(), "enough"); err != nil {
				t.Fatal(err)
			}
			<-m.Done()
		}
	}
	eventually(t, "another begins", func() bool { return post(guest, `{"Name":"two"}`) == 201 })
}
