//go:build !js

package server_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// A kicked player was once seated again after 19 ms. Now the client learns how long it is banned, and does not
// reconnect by itself.
func TestKickedIsKeptOut(t *testing.T) {
	s := newStage(t, setup{})
	a, b := s.join(t, ada, wander), s.join(t, bob, wander)
	<-a.Ready()
	<-b.Ready()
	if status, body := s.ask(t, "POST", "/matches/duel/kick?seat=0", ops, ""); status != 200 {
		t.Fatalf("kick: got %d %s", status, body)
	}
	if err := a.Wait(); !errors.Is(err, player.ErrClosed) || !strings.Contains(err.Error(), "kicked by an admin") {
		t.Errorf("the kicked player: got %v", err)
	}
	time.Sleep(19 * time.Millisecond)
	again := s.join(t, ada, wander)
	err := again.Wait()
	if !errors.Is(err, player.ErrClosed) || !strings.Contains(err.Error(), "banned for 60 s: kicked by an admin") {
		t.Errorf("19 ms later: got %v, want that it is banned for 60 s", err)
	}
	if st := s.stats(t); st.Closed[protocol.CloseBanned] != 1 || st.Players != 1 {
		t.Errorf("got %d refusals and %d players, want 1 and 1", st.Closed[protocol.CloseBanned], st.Players)
	}
	if b.Err() != nil {
		t.Errorf("the other player: %v", b.Err())
	}
}

// Err returns why a guest's session has ended, or nil.
func (g *testClient) Err() error {
	select {
	case <-g.Done():
		return g.Wait()
	default:
		return nil
	}
}

// A ban over HTTP holds for its time, or until it is ended. A banned client connects once and gives up.
func TestBansOverHTTP(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		post := func(want int, action, query string) string {
			t.Helper()
			status, body := s.ask(t, "POST", "/matches/duel/"+action+"?"+query, ops, "")
			if status != want {
				t.Errorf("%s %s: got %d %s, want %d", action, query, status, body, want)
			}
			return body
		}
		bans := func() string {
			t.Helper()
			status, body := s.ask(t, "GET", "/matches/duel/bans", ops, "")
			if status != 200 || strings.Contains(body, ada) {
				t.Errorf("bans: got %d %s", status, body)
			}
			return strings.TrimSpace(body)
		}
		if got := bans(); got != "[]" {
			t.Errorf("got %s, want no bans", got)
		}
		a, b := s.join(t, ada, wander), s.join(t, bob, wander)
		<-a.Ready()
		post(200, "ban", "seat=0&for=10s&reason=bad+manners")
		if err := a.Wait(); err == nil || !strings.Contains(err.Error(), "banned for 10 s: bad manners") {
			t.Errorf("the banned player: got %v", err)
		}
		for _, x := range []struct {
			wait time.Duration
			want string
		}{{0, "banned for 10 s"}, {5 * time.Second, "banned for 5 s"}, {5*time.Second - time.Millisecond, "banned for 1 s"}} {
			time.Sleep(x.wait)
			before := s.stats(t).Closed[protocol.CloseBanned]
			if err := s.join(t, ada, wander).Wait(); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v later: got %v, want %s", x.wait, err, x.want)
			}
			if got := s.stats(t).Closed[protocol.CloseBanned] - before; got != 1 {
				t.Errorf("the client connected %d times, want once", got)
			}
		}
		if got := bans(); !strings.Contains(got, `"seconds":1,"reason":"bad manners"`) {
			t.Errorf("got %s, want one of one more second", got)
		}
		time.Sleep(time.Millisecond)
		a = s.join(t, ada, wander)
		<-a.Ready()

		var subject string
		s.do(t, func(h *host.Host) {
			for _, p := range h.Info().Peers() {
				if p.Name == "ada" {
					subject = fmt.Sprint(p.ID)
				}
			}
		})
		post(200, "ban", "peer="+subject)
		list := bans()
		if !strings.Contains(list, `"subject":"token `) || !strings.Contains(list, `"seconds":0`) {
			t.Errorf("got %s, want a ban for the rest of the match", list)
		}
		_, subject, _ = strings.Cut(list, `"subject":"`)
		subject, _, _ = strings.Cut(subject, `"`)
		time.Sleep(11 * time.Second)
		if err := s.join(t, ada, wander).Wait(); err == nil || !strings.Contains(err.Error(), "banned for the rest of the match") {
			t.Errorf("later: got %v", err)
		}
		post(200, "unban", "subject="+url.QueryEscape(subject))
		post(409, "unban", "subject="+url.QueryEscape(subject))
		a = s.join(t, ada, wander)
		<-a.Ready()

		post(200, "ban", "subject=nobody&address=192.0.2.7&for=1h")
		post(200, "ban", "address=2001:db8::7&for=1h")
		if got := bans(); !strings.Contains(got, `"address":"192.0.2.7/32"`) || !strings.Contains(got, `"address":"2001:db8::/64"`) {
			t.Errorf("got %s", got)
		}
		post(200, "unban", "address=2001:db8::/64")
		for _, query := range []string{
			"", "for=1h", "seat=0&peer=1", "seat=0&subject=x", "seat=256", "seat=x", "peer=0", "peer=x", "address=home",
			"seat=0&for=soon", "seat=0&for=500ms", "seat=0&for=-1h", "seat=0&for=9000h",
		} {
			post(400, "ban", query)
		}
		post(400, "unban", "seat=0")
		post(409, "ban", "seat=9")
		post(409, "ban", "peer=999")
		for _, token := range []string{"", ada, press} {
			for _, ask := range []string{"POST /matches/duel/ban?seat=1", "POST /matches/duel/unban?subject=nobody", "GET /matches/duel/bans"} {
				method, path, _ := strings.Cut(ask, " ")
				if status, _ := s.ask(t, method, path, token, ""); status != 403 {
					t.Errorf("%s with the token %q: got %d, want 403", ask, token, status)
				}
			}
		}
		if status, _ := s.ask(t, "POST", "/matches/none/ban?seat=0", ops, ""); status != 404 {
			t.Errorf("a ban in no match: got %d, want 404", status)
		}
		if a.Err() != nil || b.Err() != nil {
			t.Errorf("the players: %v, %v", a.Err(), b.Err())
		}
	})
}

// A ban of a guest also applies to new clients of its address without a token. Players with tokens there, guests with
// seats and guests of other addresses stay.
func TestBanAtSharedAddress(t *testing.T) {
	t.Parallel()
	tokens, err := server.ReadTokens(strings.NewReader(strings.ReplaceAll(strings.ReplaceAll(tokenList, "   0 ", "   - "), "   1 ", "   - ")))
	if err != nil {
		t.Fatal(err)
	}
	x := setup{options: server.Options{Authorizer: server.AnyOf(tokens, server.Guests{})}, settings: func(x *lockstep.Settings) { x.Players = 6 }}
	inBubble(t, x, func(t *testing.T, s *stage) {
		home, away := s.from(t, "192.0.2.1"), s.from(t, "192.0.2.2")
		token := func(name string) string { return "guest:" + name + ":0123456789abcdef" + name }
		a, f, g := home.join(t, ada, wander), home.join(t, token("friend"), wander), home.join(t, token("grief"), wander)
		<-a.Ready()
		<-f.Ready()
		<-g.Ready()
		if status, body := s.ask(t, "POST", fmt.Sprintf("/matches/duel/ban?seat=%d&for=1h", g.status().Seat), ops, ""); status != 200 {
			t.Fatalf("got %d %s", status, body)
		}
		for _, name := range []string{"grief", "other"} {
			if err := home.join(t, token(name), wander).Wait(); err == nil || !strings.Contains(err.Error(), "banned for 3600 s") {
				t.Errorf("%s at the address: got %v, want that it is banned", name, err)
			}
		}
		<-home.join(t, bob, wander).Ready()
		<-away.join(t, token("far"), wander).Ready()
		f.Cut()
		eventually(t, "the friend resumes", func() bool { return has[player.StreamResumed](f) })
		if st := s.stats(t); st.Players != 4 || a.Err() != nil || f.Err() != nil {
			t.Errorf("got %d players, want 4; %v, %v", st.Players, a.Err(), f.Err())
		}
	})
}
