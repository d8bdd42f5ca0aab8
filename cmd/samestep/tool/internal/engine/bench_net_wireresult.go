//go:build !js

package engine

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A wireResult compares both transports behind the same link.
type wireResult struct {
	Link      string     `json:"wire"`
	Real      bool       `json:"namespaces"` // TCP and UDP of the system; otherwise a proxy simulates what TCP does
	Clients   int        `json:"clients"`    // of each side
	Matches   int        `json:"matches"`
	TickRate  int        `json:"tick_rate"`
	Seconds   float64    `json:"seconds"`
	WebSocket sideResult `json:"websocket"`
	Datagrams sideResult `json:"datagrams"`
}

// A sideResult is what the players of one side have seen.
type sideResult struct {
	Frames      int     `json:"frames"` // that arrived
	Expected    int     `json:"frames_expected"`
	Lateness    spread  `json:"lateness"`         // of a frame, compared with the promptest one of its player
	Behind      spread  `json:"behind_the_first"` // of a frame, compared with the player of its match who had it first
	Commands    int     `json:"commands"`
	Accepted    int     `json:"accepted"`
	Execution   spread  `json:"command_to_execution"`
	ToServer    float64 `json:"bytes_to_server"`  // a player and second, with the headers of IP
	ToPlayer    float64 `json:"bytes_to_player"`  // a player and second, with the headers of IP
	ServerCPU   float64 `json:"server_cpu"`       // percent of a core for each player; 0 if it is unknown
	RoundTripMS float64 `json:"round_trip_ms"`    // that players measure over the WebSocket
	ByDatagrams int     `json:"with_datagrams"`   // players who have datagrams at the end
	Lost        int     `json:"connections_lost"` // WebSockets
	Agreed      int     `json:"checksums_agreed"`
	Differing   int     `json:"checksums_differing"`
}

// A spread says how a time varies.
type spread struct {
	P50MS     float64 `json:"p50_ms"`
	P95MS     float64 `json:"p95_ms"`
	P99MS     float64 `json:"p99_ms"`
	LongestMS float64 `json:"longest_ms"`
}

func spreadOf(d []time.Duration) (s spread) {
	if s.P50MS, s.P99MS = percentiles(d); len(d) > 0 {
		s.P95MS, s.LongestMS = console.Milliseconds(d[len(d)*95/100]), console.Milliseconds(d[len(d)-1]) // they are in order by now
	}
	return s
}

// text returns one of the times, or a dash if nothing was measured: the rules may refuse every command.
func (s *spread) text(of func(*spread) float64) string {
	if *s == (spread{}) {
		return "–"
	}
	return fmt.Sprintf("%.1f ms", of(s))
}

// behindFirst returns how long after the first player of its match each player had a frame. A server or a machine that is late
// itself does not count then. The measurements are over.
func behindFirst(players []*wirePlayer, room int) (behind []time.Duration) {
	for match := range slices.Chunk(players, room) {
		first := map[lockstep.Tick]time.Time{}
		for _, p := range match {
			for _, a := range p.arrivals {
				if at, ok := first[a.tick]; !ok || a.at.Before(at) {
					first[a.tick] = a.at
				}
			}
		}
		for _, p := range match {
			for _, a := range p.arrivals {
				behind = append(behind, a.at.Sub(first[a.tick]))
			}
		}
	}
	return behind
}

func (r *wireResult) Print(w io.Writer) {
	line := console.NewLiner(w)
	how := "a proxy: each lost packet of a stream is a stall, as of TCP"
	if r.Real {
		how = "network namespaces: real TCP and UDP"
	}
	line("wire", "%s; %s", r.Link, how)
	line("load", "twice %s in %s, %s a second, for %.0f s", console.Count(r.Clients, "player"), console.Count(r.Matches, "match"), console.Count(r.TickRate, "tick"), r.Seconds)
	fmt.Fprintln(w)
	row := func(name string, value func(s *sideResult) string) {
		fmt.Fprintf(w, "%-38s %14s %14s\n", name, value(&r.WebSocket), value(&r.Datagrams))
	}
	fmt.Fprintf(w, "%-38s %14s %14s\n", "", "WebSocket only", "with datagrams")
	for _, t := range []struct {
		name string
		of   func(s *sideResult) *spread
	}{{"frames late", func(s *sideResult) *spread { return &s.Lateness }}, {"behind the first", func(s *sideResult) *spread { return &s.Behind }}, {"command to execution", func(s *sideResult) *spread { return &s.Execution }}} {
		for _, p := range []struct {
			name string
			of   func(s *spread) float64
		}{
			{"median", func(s *spread) float64 { return s.P50MS }}, {"95 %", func(s *spread) float64 { return s.P95MS }},
			{"99 %", func(s *spread) float64 { return s.P99MS }}, {"longest", func(s *spread) float64 { return s.LongestMS }},
		} {
			row(t.name+", "+p.name, func(s *sideResult) string { return t.of(s).text(p.of) })
		}
	}
	row("frames, of those that were due", func(s *sideResult) string { return fmt.Sprintf("%d of %d", s.Frames, s.Expected) })
	row("commands accepted", func(s *sideResult) string { return fmt.Sprintf("%d of %d", s.Accepted, s.Commands) })
	row("bytes to a player, a second", func(s *sideResult) string { return fmt.Sprintf("%.0f", s.ToPlayer) })
	row("bytes to the server, of a player", func(s *sideResult) string { return fmt.Sprintf("%.0f", s.ToServer) })
	row("server's CPU, of a core, for a player", func(s *sideResult) string { return fmt.Sprintf("%.3f %%", s.ServerCPU) })
	row("round trip of the WebSocket", func(s *sideResult) string { return fmt.Sprintf("%.1f ms", s.RoundTripMS) })
	row("players with datagrams at the end", func(s *sideResult) string { return fmt.Sprint(s.ByDatagrams) })
	row("connections lost", func(s *sideResult) string { return fmt.Sprint(s.Lost) })
	row("checksums equal, and not", func(s *sideResult) string { return fmt.Sprintf("%d, %d", s.Agreed, s.Differing) })
	fmt.Fprintln(w, "\nFrames are late compared with the promptest one of their player, and behind the first player of the match who had them.")
	if r.Real {
		fmt.Fprintln(w, "Bytes are those of all packets of IP, with those that only acknowledge.")
	} else {
		fmt.Fprintln(w, "Bytes are those of packets with the headers of IP, without those of TCP that only acknowledge.")
	}
}
