//go:build !js

package live_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/live"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	pagelive "github.com/seed-49bee653/samestep/page/live"
	"github.com/seed-49bee653/samestep/server"
)

// patience is a time limit for a test that hangs.
const patience = 5 * time.Minute

const tokens = `
	player 0 ada arena token-of-ada-0123
	player 1 bob arena token-of-bob-0123
	player - eve arena token-of-eve-0123`

// serve hosts the match "arena" of two players and returns the address of its
// WebSocket.
func serve(t *testing.T, rules func(*lockstep.Rules[skirmish.World, skirmish.Config])) (string, *server.Match) {
	t.Helper()
	list, err := server.ReadTokens(strings.NewReader(tokens))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{
		Authorizer: list, Log: slog.New(slog.DiscardHandler), Host: host.Options{AnonymousSpectators: true, Desync: host.ResyncDesynced},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := skirmish.Rules()
	if rules != nil {
		rules(&r)
	}
	settings, config := lockstep.DefaultSettings(2), skirmish.Defaults(2, 60)
	settings.Seed, settings.TickMicros, settings.CheckEvery = 1, lockstep.TickPeriod(50), 10
	m, err := s.Create(server.MatchSpec{Name: "arena", Game: lockstep.MustGame(r), Settings: settings, Config: &config})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		web.Close()
	})
	return "ws" + strings.TrimPrefix(web.URL, "http") + "/matches/arena/play", m
}

// A visit is a game with the news that it has shown.
type visit struct {
	*live.Game
	t     *testing.T
	last  live.Status
	lines []pagelive.Line
}

func join(t *testing.T, url, token string) *visit {
	v := &visit{Game: live.Join(context.Background(), url, token, false, ""), t: t}
	t.Cleanup(func() {
		v.Leave()
		<-v.Done()
	})
	return v
}

// until waits for a status.
func (v *visit) until(what string, ok func(s *live.Status) bool) *live.Status {
	v.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		b := v.Status()
		if len(b) == 0 {
			continue
		}
		v.last = live.Status{}
		if err := json.Unmarshal(b, &v.last); err != nil {
			v.t.Fatal(err)
		}
		v.lines = append(v.lines, v.last.Lines...)
		if ok(&v.last) {
			return &v.last
		}
	}
	v.t.Fatalf("waited in vain: %s; the last status: %+v", what, v.last)
	return nil
}

func isLive(s *live.Status) bool { return s.Link.State == "live" && s.Panel != nil }

// said reports whether there was a line of a sort with a text.
func (v *visit) said(sort, text string) bool {
	for _, l := range v.lines {
		if l.Sort == sort && strings.Contains(l.Text, text) {
			return true
		}
	}
	return false
}

// A user joins, sees units, gives an order by clicks, and sees the result. The checksums agree.
func TestPlay(t *testing.T) {
	url, _ := serve(t, nil)
	v := join(t, url, "token-of-ada-0123")
	s := v.until("live", isLive)
	if s.Net.Seat != 0 || s.Panel.Account == nil || s.Panel.Account.Units != 30 || s.Match.Players != 2 || s.Match.CheckEvery != 10 {
		t.Errorf("joined as %+v, account %+v, match %+v", s.Net, s.Panel.Account, s.Match)
	}
	screen := live.Screen{Width: 800, Height: 600, PointerX: -1, PointerY: -1, Dots: true}
	frame := v.Frame(nil, screen)
	if len(frame) < 4*(scene.HeadWords+6*30) {
		t.Errorf("the frame has %d bytes", len(frame))
	}
	if fog, ground := v.Fog(nil), v.Ground(nil); len(fog) != len(ground) || len(fog) != int(s.Match.Size)*int(s.Match.Size) {
		t.Errorf("got %d bytes of fog, %d of ground", len(fog), len(ground))
	}
	if !v.Key("KeyF", false, false) || v.Key("KeyZ", false, false) {
		t.Error("the keys F and Z: want only F to be for something")
	}
	s = v.until("the army is selected", func(s *live.Status) bool { return len(s.Panel.Selected) == 2 })
	v.Act(100, 100, false)
	v.until("answered", func(s *live.Status) bool { return s.Net.Unanswered == 0 && s.Net.Agreed > 3 })
	if s.Net.Differing != 0 || v.said("problem", "") {
		t.Errorf("%d checksums differ; news: %v", s.Net.Differing, v.lines)
	}
	v.Click(400, 300, false, false) // the base, which the camera begins above
	v.until("the base is selected", func(s *live.Status) bool { return s.Panel.One != nil && s.Panel.One.Kind == "base" })
	v.Do("train:worker")
	v.until("it trains", func(s *live.Status) bool { return s.Panel.One.Making == "worker" })
	v.Do("train:soldier")
	v.until("that is refused with a reason", func(*live.Status) bool { return v.said("problem", "only a complete barracks trains that") })

	var history live.History
	if err := json.Unmarshal(v.History(), &history); err != nil || len(history.Players) != 1 || len(history.Ticks) == 0 {
		t.Errorf("the history is %+v, %v; want that of one player", history, err)
	}
	var request struct {
		Game    string
		Players uint8
		Period  uint32          `json:"tick_micros"`
		MS      uint16          `json:"tick_ms"`
		Seed    uint64          `json:"seed,string"`
		Config  json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(v.Request(), &request); err != nil || request.Seed == 0 || request.Game != skirmish.GameName || request.Players != 2 || request.Period != 20_000 {
		t.Errorf("the request is %s, %v; want the settings of the match", v.Request(), err)
	}
	if config, err := lockstep.MustGame(skirmish.Rules()).ReadConfig(request.Config, nil); err != nil || config.(*skirmish.Config).Cap != skirmish.Defaults(2, 60).Cap {
		t.Errorf("the configuration is %s, %v; want that of the match", request.Config, err)
	}

	w := join(t, url, "")
	s = w.until("a spectator is live", isLive)
	if s.Net.Seat != -1 || s.Panel.Account != nil {
		t.Errorf("the spectator has seat %d", s.Net.Seat)
	}
	v.Say("hello <b>there</b>")
	w.until("the line arrives", func(*live.Status) bool { return w.said("chat", "hello <b>there</b>") })
}

// A change in one client's state is found, and repaired with the match's state.
func TestCorruptAndHeal(t *testing.T) {
	url, _ := serve(t, nil)
	v := join(t, url, "token-of-ada-0123")
	v.until("some ticks", func(s *live.Status) bool { return isLive(s) && s.Net.Tick > 30 })
	v.Corrupt()
	s := v.until("healed", func(s *live.Status) bool { return s.Desync != nil && s.Desync.Healed > 0 && s.Desync.Seen > 0 })
	d := s.Desync
	if d.Section != "Units" || d.Total < 1 || len(d.Fields) == 0 || d.Fields[0].Path != d.Planted || d.Fields[0].Ours == d.Fields[0].Theirs {
		t.Errorf("explained as %+v", d)
	}
	if d.Planted == "" || d.Tick <= d.At || d.Healed < d.Tick || d.Number != 1 {
		t.Errorf("got %+v", d)
	}
	s = v.until("computed again", func(s *live.Status) bool { return s.Desync != nil && s.Desync.Again != "" })
	if s.Desync.Again != "right this time" || s.Desync.From >= s.Desync.Tick {
		t.Errorf("computed again: %+v", s.Desync)
	}
}

func TestCutAndResume(t *testing.T) {
	url, _ := serve(t, nil)
	v := join(t, url, "token-of-ada-0123")
	v.until("live", isLive)
	v.Cut()
	v.until("back", func(s *live.Status) bool { return s.Link.Losses == 1 && s.Link.State == "live" })
	if !v.said("link", "disconnected") || !v.said("link", "reconnected at tick") {
		t.Errorf("news: %v", v.lines)
	}
}

// A player who leaves without giving up can take the seat again.
func TestCloseAndComeBack(t *testing.T) {
	url, _ := serve(t, nil)
	v := join(t, url, "token-of-ada-0123")
	v.until("live", isLive)
	v.Close()
	again := join(t, url, "token-of-ada-0123")
	s := again.until("live", isLive)
	if s.Net.Seat != 0 || s.Panel.Account.Defeated {
		t.Errorf("came back to seat %d, account %+v", s.Net.Seat, s.Panel.Account)
	}
	again.Leave()
	<-again.Done()
	w := join(t, url, "")
	w.until("who leaves is defeated", func(s *live.Status) bool { return isLive(s) && s.Panel.Players[0].Status == "defeated" })
}

// Each refusal has a text and ends the session.
func TestRefused(t *testing.T) {
	url, m := serve(t, nil)
	other, _ := serve(t, func(r *lockstep.Rules[skirmish.World, skirmish.Config]) { r.Build = "another" })
	join(t, url, "token-of-ada-0123").until("ada is there", isLive)
	join(t, url, "token-of-bob-0123").until("bob is there", isLive)
	for _, row := range []struct{ name, url, token, state, text string }{
		{"unknown token", url, "token-of-nobody-01", "failed", "does not know yours"},
		{"full", url, "token-of-eve-0123", "failed", "All seats"},
		{"another build", other, "token-of-ada-0123", "failed", "different versions"},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := join(t, row.url, row.token)
			s := v.until("an answer", func(s *live.Status) bool { return s.Link.State == "failed" || s.Link.State == "ended" })
			if s.Link.State != row.state || !strings.Contains(s.Link.Text, row.text) {
				t.Errorf("got %q: %q, want %q", s.Link.State, s.Link.Text, row.text)
			}
			<-v.Done()
			if len(v.Frame(nil, live.Screen{Width: 10, Height: 10})) != 0 {
				t.Error("there is a frame without a state")
			}
		})
	}
	t.Run("the match ends", func(t *testing.T) {
		v := join(t, url, "")
		v.until("live", isLive)
		if err := m.End(t.Context(), "enough of it"); err != nil {
			t.Fatal(err)
		}
		v.until("the reason", func(s *live.Status) bool {
			return s.Link.State == "ended" && strings.Contains(s.Link.Text, "enough of it")
		})
		<-v.Done()
		if len(v.Frame(nil, live.Screen{Width: 800, Height: 600})) == 0 {
			t.Error("the last state is not drawn")
		}
	})
}
