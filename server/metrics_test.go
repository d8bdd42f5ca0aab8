//go:build !js

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// The metrics on which docs/threat-model.md and operators rely.
func TestMetrics(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		<-s.join(t, ada, wander).Ready()
		s.raw(t, "wrong-wrong-wrong-wrong", protocol.SessionToken{}, 0).end()
		s.ask(t, "GET", "/matches/duel/play", "", "")
		time.Sleep(2 * time.Second) // what matches count is a second late
		_, body := s.ask(t, "GET", "/metrics", "", "")
		for _, want := range []string{
			"samestep_lateness_seconds_bucket", `samestep_turned_away_total{reason="handshake"} 1`,
			`samestep_events_total{kind="joined",subject="connection"} 1`, `samestep_events_total{kind="refused",subject="connection"} 1`, `samestep_desyncs_total{build="` + s.game.Build() + `"} 0`, "samestep_panics_total 0",
			`samestep_matches{state="playing"} 1`, `samestep_connections{role="player"} 1`, `samestep_peers{state="live"}`, `samestep_held_matches{reason="the server's disk is full"} 0`,
			"samestep_sync_seconds_count 1", "samestep_sync_bytes_total ", `samestep_disk_seconds_count{operation="write"}`, "samestep_ticks_total ", "samestep_skipped_ticks_total 0",
			"samestep_accepted_commands_total ", "go_goroutines ", `samestep_build_info{engine="samestep/1"`, "samestep_memory_bytes", "samestep_max_lag_ticks",
			"samestep_ring_records", "samestep_step_seconds_count ", `samestep_late_seconds_total{cause="stepping"}`, `samestep_match_memory_bytes{of="largest",part="state"} `, `samestep_rejected_commands_total{reason="malformed payload"} 0`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("no %s in\n%s", want, body)
			}
		}
	})
}

// Counters do not fall when a match ends, and count each event once. A resumed match does not count as a returning
// player.
func TestCountersAfterTheMatch(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		r := s.raw(t, ada, protocol.SessionToken{}, 0).live()
		for seq := range lockstep.Sequence(5) {
			r.say(&protocol.Message{Kind: protocol.KindCommand, Sequence: seq + 1, Command: 9999})
		}
		for _, action := range []string{"pause", "resume"} {
			s.ask(t, "POST", "/matches/duel/"+action+"?seat=0", ops, "")
		}
		check := func(when string) {
			_, body := s.ask(t, "GET", "/metrics", "", "")
			for _, want := range []string{
				`samestep_rejected_commands_total{reason="unknown kind"} 5`,
				`samestep_events_total{kind="resumed",subject="match"} 1`, `samestep_events_total{kind="joined",subject="connection"} 1`,
			} {
				if !strings.Contains(body, want) {
					t.Errorf("%s: no %s in\n%s", when, want, body)
				}
			}
			if strings.Contains(body, `kind="resumed",subject="connection"`) {
				t.Errorf("%s: a player has come back in\n%s", when, body)
			}
		}
		time.Sleep(2 * time.Second)
		check("in the match")
		if status, _ := s.ask(t, "DELETE", "/matches/duel", ops, ""); status != 200 {
			t.Fatal(status)
		}
		r.end()
		<-s.match.Done()
		check("after it")
		if log := s.log.String(); strings.Count(log, `msg="longest step"`) != 1 || !strings.Contains(log, " commands=") {
			t.Errorf("the log does not have the longest step once:\n%s", log)
		}
	})
}

// A server has the metrics of others among its own, and refuses one of a name that it has.
func TestFurtherMetrics(t *testing.T) {
	t.Parallel()
	gauge := func(name string) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: "Of a test."}, func() float64 { return 7 })
	}
	inBubble(t, setup{options: server.Options{Metrics: []prometheus.Collector{gauge("samestep_of_another")}}}, func(t *testing.T, s *stage) {
		if _, body := s.ask(t, "GET", "/metrics", "", ""); !strings.Contains(body, "\nsamestep_of_another 7\n") {
			t.Errorf("got %s", body)
		}
	})
	if _, err := server.New(server.Options{Metrics: []prometheus.Collector{gauge("samestep_ticks_total")}}); err == nil {
		t.Error("got a server with two metrics of one name")
	}
}
