//go:build !js

package server_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// saved returns a replay of a match that goes on.
func (s *stage) saved(t *testing.T) *replay.Reader {
	t.Helper()
	var file bytes.Buffer
	if _, err := s.match.Save(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// originAt returns the state after a tick of a replay.
func originAt(t *testing.T, r *replay.Reader, g *lockstep.Game, tick lockstep.Tick) *replay.Origin {
	t.Helper()
	o, err := replay.ReadOrigin(r, g, "duel", tick, replay.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// verifyFile requires that a replay is whole and true.
func verifyFile(t *testing.T, path string, g *lockstep.Game) *replay.Verification {
	t.Helper()
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(r, g, replay.VerifyOptions{})
	if err != nil || !v.Ended {
		t.Fatalf("%s: %+v, %v", path, v, err)
	}
	return v
}

// A match is saved while it is played: the replay is whole and true, and the players notice nothing.
func TestSave(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		s := newStage(t, setup{pipes: true})
		a, b := s.join(t, ada, wander), s.join(t, bob, wander)
		eventually(t, "it plays", func() bool { return a.tick() > 45 && b.tick() > 45 })
		for range 3 {
			r := s.saved(t)
			v, err := replay.Verify(r, s.game, replay.VerifyOptions{})
			if err != nil || !v.Ended || v.Ticks < 45 || v.Checked < 4 || !strings.HasPrefix(v.Reason, "saved after tick ") {
				t.Fatalf("%+v, %v", v, err)
			}
			eventually(t, "it goes on", func() bool { return a.tick() > v.Ticks+5 && a.status().Agreed > 2 })
		}
		s.agree(t, a, b)

		answer := s.getSave(t, ops)
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(answer.Header.Get("Content-Disposition"), `"duel-`+s.match.Status().Match[:8]+"-") {
			t.Fatalf("%d %v %v", answer.StatusCode, answer.Header, err)
		}
		path := filepath.Join(t.TempDir(), "save.ssr")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		verifyFile(t, path, s.game)
		for _, token := range []string{"", ada, press} {
			if answer := s.getSave(t, token); answer.StatusCode != http.StatusForbidden {
				t.Errorf("token %q: got %d, want 403", token, answer.StatusCode)
			}
		}
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-s.match.Done()
		if _, err := s.match.Save(t.Context(), io.Discard); !errors.Is(err, server.ErrMatchOver) {
			t.Errorf("a match that is over: got %v", err)
		}
	})
}

// getSave asks for a save over HTTP.
func (s *stage) getSave(t *testing.T, token string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.host+"/matches/duel/save", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// A server without a folder has nothing to save.
func TestSaveWithoutReplay(t *testing.T) {
	o := server.Options{}
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Create(server.MatchSpec{Name: "duel", Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Save(t.Context(), io.Discard); !errors.Is(err, server.ErrUnrecorded) {
		t.Errorf("got %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// While the disk is full the log is torn, and nothing is saved.
func TestSaveWithFullDisk(t *testing.T) {
	f := &badFile{}
	s := newStage(t, setup{newFile: f.new})
	defer f.set(func() { f.full = false })
	f.set(func() { f.full = true })
	eventually(t, "the disk is full", func() bool {
		_, err := s.match.Save(t.Context(), io.Discard)
		return errors.Is(err, server.ErrStorage)
	})
	if answer := s.getSave(t, ops); answer.StatusCode != http.StatusInsufficientStorage {
		t.Errorf("got %d, want 507", answer.StatusCode)
	}
}

// A caller that no longer waits for a save gets none.
func TestSaveGivenUp(t *testing.T) {
	s := newStage(t, setup{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if _, err := s.match.Save(ctx, io.Discard); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
}

// A match begins in the state of a save, with other players in the seats. It is recovered after a crash. Its replay
// verifies, and its lineage leads to the replay of the match that went on.
func TestBeginFromSave(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		first := newStage(t, setup{pipes: true})
		a, b := first.join(t, ada, wander), first.join(t, bob, wander)
		eventually(t, "it plays", func() bool { return a.tick() > 85 && b.tick() > 85 })
		from := originAt(t, first.saved(t), first.game, 63)

		second := newStage(t, setup{pipes: true, from: from, reserved: []string{"bob", "ada"}, options: server.Options{AwaitPlayers: patience}})
		if v := second.match.Status(); v.Tick != 64 || v.Held == "" {
			t.Fatalf("it begins at tick %d, held %q, want tick 64 and to wait for players", v.Tick, v.Held)
		}
		c, d := second.join(t, ada, wander), second.join(t, bob, wander)
		eventually(t, "it goes on from there", func() bool { return c.tick() > 105 && d.tick() > 105 && c.status().Agreed > 2 })
		if c.status().Seat != 1 || d.status().Seat != 0 {
			t.Errorf("ada has seat %d, bob seat %d, want them changed", c.status().Seat, d.status().Seat)
		}
		second.agree(t, c, d)

		third := newStage(t, setup{pipes: true, interrupted: second.crash(t), options: server.Options{KeepOpen: true}})
		before := third.match.Status().Tick
		e := third.join(t, ada, wander)
		eventually(t, "it continues after a crash", func() bool { return e.tick() > before+25 && e.status().Agreed > 1 })
		if e.status().Seat != 1 {
			t.Errorf("after a crash ada has seat %d, want 1", e.status().Seat)
		}
		for _, s := range []*stage{first, third} {
			if err := s.match.End(t.Context(), "enough"); err != nil {
				t.Fatal(err)
			}
			<-s.match.Done()
		}
		if v := verifyFile(t, third.match.ReplayPath(), third.game); v.Commands < 10 {
			t.Errorf("%+v", v)
		}
		f, err := replay.Open(third.match.ReplayPath())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := f.Reader()
		if err != nil {
			t.Fatal(err)
		}
		all, err := replay.FollowLineage(r, replay.Games{third.game}.OfFile, []string{filepath.Dir(first.match.ReplayPath())}, replay.SimulateOptions{})
		if err != nil || len(all) != 1 || all[0].Path != first.match.ReplayPath() || all[0].Tick != 63 || all[0].Name != "duel" {
			t.Errorf("got %+v, %v", all, err)
		}
	})
}

// A match that begins in a save with a lobby tells the simulation who is lost and who comes, and a crash forgets no player.
func TestBeginFromSaveInLobby(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		first := newStage(t, setup{pipes: true})
		a, b := first.join(t, ada, wander), first.join(t, bob, wander)
		eventually(t, "it plays", func() bool { return a.tick() > 45 && b.tick() > 45 })
		from := originAt(t, first.saved(t), first.game, 40)

		lobby := host.Options{Start: host.StartPolicy{Players: 1}}
		second := newStage(t, setup{pipes: true, from: from, host: lobby, options: server.Options{AwaitPlayers: patience}})
		if v := second.match.Status(); v.Tick != 41 || len(v.Players) != 2 || v.Players[0].State != "away" || v.Players[1].State != "away" {
			t.Fatalf("it begins at tick %d with %+v, want tick 41 and both away", v.Tick, v.Players)
		}
		c, d := second.join(t, ada, wander), second.join(t, bob, wander)
		eventually(t, "it goes on from there", func() bool { return c.tick() > 65 && d.tick() > 65 && c.status().Agreed > 1 })
		second.agree(t, c, d)

		third := newStage(t, setup{pipes: true, interrupted: second.crash(t), host: lobby, options: server.Options{KeepOpen: true, AwaitPlayers: patience}})
		if v := third.match.Status(); v.Held == "" || v.Waiting == nil || len(v.Waiting.Seats) != 2 {
			t.Errorf("after a crash it is held %q for %+v, want both players", v.Held, v.Waiting)
		}
	})
}

// A match that differs from its save is refused with the name of the field, and leaves no file.
func TestBeginRefused(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		s := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true}})
		a := s.join(t, ada, wander)
		eventually(t, "it plays", func() bool { return a.tick() > 25 })
		from := originAt(t, s.saved(t), s.game, replay.WholeMatch)
		settings := from.Header.Settings
		rules := minimal.Rules()
		rules.Build = "other"
		for _, row := range []struct {
			change func(*server.MatchSpec)
			want   string
		}{
			{func(m *server.MatchSpec) { m.Settings.Seed++ }, "setting seed: got 2, want 1"},
			{func(m *server.MatchSpec) { m.Settings.Players = 1 }, "setting players: got 1, want 2"},
			{func(m *server.MatchSpec) { m.Settings = settings; m.Config = &minimal.Config{Size: 51, Coins: coins} }, "configuration Size: got 51, want 50"},
			{func(m *server.MatchSpec) { m.Game = lockstep.MustGame(rules) }, "build"},
			{func(m *server.MatchSpec) { m.Players = []string{"", "", "ada"} }, "players: got 3, want at most 2"},
			{func(m *server.MatchSpec) { m.From = nil; m.Config = &minimal.Config{Size: 9} }, "got players with seats"},
		} {
			spec := server.MatchSpec{Name: "again", Game: s.game, Settings: settings, From: from, Players: []string{"ada"}}
			row.change(&spec)
			if _, err := s.server.Create(spec); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		}
		if files := s.files(t, "again*"); len(files) != 0 {
			t.Errorf("got %v, want no file", files)
		}
	})
}

// A server opens its replays by their names, but none that it still writes.
func TestOpenReplay(t *testing.T) {
	s := newStage(t, setup{options: server.Options{KeepOpen: true}})
	name := filepath.Base(s.match.ReplayPath())
	for _, bad := range []string{name, "none-01234567.ssr", "../" + name, "live/" + name, ""} {
		if f, err := s.server.OpenReplay(t.Context(), bad); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %v, %v", bad, f, err)
		}
	}
	if err := s.match.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	<-s.match.Done()
	f, err := s.server.OpenReplay(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// A replay that was archived is opened there.
func TestOpenArchivedReplay(t *testing.T) {
	s, name, bundle := archived(t, server.Options{})
	f, err := s.server.OpenReplay(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	originAt(t, r, s.game, replay.WholeMatch)
	for _, bad := range []string{bundle, "none-01234567.ssr"} {
		if _, err := s.server.OpenReplay(t.Context(), bad); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", bad, err)
		}
	}
}
