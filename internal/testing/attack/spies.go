package attack

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// ordinary are the statistics that an ordinary caller may see of a running match, see docs/spec/http.md.
var ordinary = strings.Fields("tick skipped desyncs resyncs referee_faults peers players spectators max_lag by_datagrams input_delay")

// The match hides an hour from its spectators. Honest players need its records, so another one is sent as views.
var _ = register(&Attack{
	Row: 17, Name: "spies", About: "strangers, and spectators as mirrors are, watch a match that is delayed for them and one that is sent as views, and read their statistics and metrics",
	Serve: func(string) ([]string, error) {
		return []string{"--set", "spectator-delay=1h", "--set", "anonymous-spectators=true"}, nil
	},
	Run: func(ctx context.Context, h *Attackers) error {
		status, answer, err := h.ask(ctx, h.client, http.MethodGet, "/matches/"+h.Match, "", "")
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("attack: the match: got status %d, %w", status, err)
		}
		if m, err := parseTold(answer); err != nil || m.Tick > 0 {
			return cmp.Or(err, errUnfit) // it has no delay
		}
		return h.repeat(ctx, 4, 40, func(ctx context.Context, n int) error {
			if n == 0 {
				return h.spyOnViews(ctx)
			}
			token := []string{"", h.Tokens.Watchers[n%len(h.Tokens.Watchers)]}[n/3%2]
			switch n % 3 {
			case 0:
				return h.spy(ctx, token)
			case 1:
				if n%2 == 0 {
					return h.readFigures(ctx, "/matches", "") // the token is of one match
				}
				return h.readFigures(ctx, "/matches/"+h.Match, token)
			}
			status, _, err := h.ask(ctx, h.client, http.MethodGet, "/metrics", "", "")
			if err != nil {
				return nil // the server may cut it
			}
			h.try(fmt.Sprintf("metrics %d", status))
			if status == http.StatusOK {
				h.win("the metrics of a server with a match that hides something")
			}
			return nil
		})
	},
})

// spy watches the match for a short time.
func (h *Attackers) spy(ctx context.Context, token string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second/2)
	defer cancel()
	p, err := h.join(ctx, token, protocol.SessionToken{})
	if err != nil {
		h.try("watching: " + outcome(err))
		return nil
	}
	defer p.ws.CloseNow()
	for err == nil {
		err = p.read(ctx)
		if p.tick > 0 { // the first state is no secret
			h.win("a spectator is at tick %d of the hidden hour", p.tick)
			return nil
		}
	}
	h.try("watching: " + outcome(err))
	return nil
}

// A toldMatch is a match as the server tells it.
type toldMatch struct {
	Tick     int
	Settings struct{ Seed string }
	Stats    map[string]json.RawMessage
}

// parseTold reads a match, or a list with one match.
func parseTold(answer string) (m toldMatch, err error) {
	err = json.Unmarshal([]byte(strings.Trim(strings.TrimSpace(answer), "[]")), &m)
	return m, err
}

// readFigures reads the statistics of the match.
func (h *Attackers) readFigures(ctx context.Context, path, token string) error {
	status, answer, err := h.ask(ctx, h.client, http.MethodGet, path, token, "")
	if err != nil {
		return nil
	}
	h.try(fmt.Sprintf("statistics %d", status))
	if status != http.StatusOK {
		return nil
	}
	told, err := parseTold(answer)
	if err != nil {
		return fmt.Errorf("attack: the statistics at %s: %w", path, err)
	}
	if told.Tick > 0 {
		h.win("%s tells tick %d of the hidden hour", path, told.Tick)
	}
	h.checkFigures(path, told)
	return nil
}

// checkFigures looks for statistics that are not for everybody.
func (h *Attackers) checkFigures(from string, m toldMatch) {
	for name := range m.Stats {
		if !slices.Contains(ordinary, name) {
			h.win("%s tells %s", from, name)
		}
	}
}

// spyOnViews spies on a match of two bots that is sent as views, at a server of its own, because honest players need records.
// Nothing happens if the game has no views.
func (h *Attackers) spyOnViews(ctx context.Context) error {
	if h.game.ViewSchema() == nil {
		return nil
	}
	p := exec.CommandContext(ctx, h.Program, "serve", "--game", h.Game, "--listen", "127.0.0.1:0", "--log-level", "warn", "--set", "web=false", "--dir", "",
		"--players", "2", "--bots", "2", "--set", "players-see=views")
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		return err
	}
	defer p.Wait()
	defer p.Process.Kill()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on http"); ok {
			go io.Copy(io.Discard, out)
			there := &Attackers{Job: h.Job, game: h.game, client: h.client, report: Report{Told: map[string]int{}}}
			there.Server, there.Match = "ws"+url, "match-1"
			there.spyAsStranger(ctx)
			for why := range there.report.Told {
				h.try("views: " + why)
			}
			for _, what := range there.report.Wins {
				h.win("of a match that is sent as views: %s", what)
			}
			return nil
		}
	}
	if ctx.Err() == nil {
		h.try("views: no server")
	}
	return nil
}

// spyAsStranger tries to learn something about the match without a token, in each way.
func (h *Attackers) spyAsStranger(ctx context.Context) {
	for name, auth := range map[string]*protocol.Auth{"records": protocol.NewAuth(h.game), "views": protocol.NewViewerAuth(h.game)} {
		p, err := h.open(ctx)
		if err != nil {
			h.try("cut")
			continue
		}
		for err = p.say(ctx, &protocol.Message{Kind: protocol.KindAuth, Auth: auth}); err == nil && p.welcome == nil; {
			err = p.read(ctx)
		}
		if p.ws.CloseNow(); p.welcome != nil {
			h.win("a stranger is welcome to %s", name)
		}
		h.try(name + ": " + outcome(err))
	}
	status, answer, err := h.ask(ctx, h.client, http.MethodGet, "/matches/"+h.Match, "", "")
	if m, wrong := parseTold(answer); err == nil && status == http.StatusOK && wrong == nil {
		h.try("statistics")
		h.checkFigures("the match", m)
		if m.Settings.Seed != "0" {
			h.win("its seed is %s", m.Settings.Seed)
		}
	}
	if status, _, err := h.ask(ctx, h.client, http.MethodGet, "/metrics", "", ""); err == nil {
		if h.try("metrics"); status == http.StatusOK {
			h.win("the metrics")
		}
	}
}
