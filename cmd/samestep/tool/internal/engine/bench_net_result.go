//go:build !js

package engine

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A netResult is the result of a load test.
type netResult struct {
	Clients          int     `json:"clients"`
	Matches          int     `json:"matches"`
	Seconds          float64 `json:"seconds"`
	ServerCPU        float64 `json:"server_cpu_percent"`            // of one core; 0 if it is unknown
	PerClient        float64 `json:"server_cpu_percent_per_client"` // of one core
	Frames           int     `json:"frames"`                        // that arrived
	Expected         int     `json:"frames_expected"`
	LatenessP50MS    float64 `json:"lateness_p50_ms"` // of a frame, compared with the promptest one of its client
	LatenessP99MS    float64 `json:"lateness_p99_ms"`
	BytesPerFrame    float64 `json:"bytes_per_frame"` // all payload of the socket
	Commands         int     `json:"commands"`
	Accepted         int     `json:"accepted"`
	CommandP50MS     float64 `json:"command_p50_ms"` // from a command to its receipt
	CommandP99MS     float64 `json:"command_p99_ms"`
	ConnectionsLost  int     `json:"connections_lost"`
	ResidentMemoryMB float64 `json:"server_resident_mb"`

	Spectators       int            `json:"spectators"`
	SpectatorFrames  int            `json:"spectator_frames"`
	SpectatorLateP99 float64        `json:"spectator_lateness_p99_ms"`
	Viewers          *viewersResult `json:"viewers,omitempty"`
	JoinMS           float64        `json:"late_join_ms"`    // from dialing until the simulation is live
	ResumeMS         float64        `json:"resume_ms"`       // from the new socket until the stream continues
	StateBytes       uint32         `json:"late_join_bytes"` // of the keyframe
}

func (r *netResult) Print(w io.Writer) {
	line := console.NewLiner(w)
	line("load", "%s in %s, for %.0f s", console.Count(r.Clients, "client"), console.Count(r.Matches, "match"), r.Seconds)
	line("server", "%.1f %% of a core, %.4f %% a client; %.0f MB resident", r.ServerCPU, r.PerClient, r.ResidentMemoryMB)
	line("frames", "%d of the %d that were due arrived; late by %.1f ms (median), %.1f ms (99 %%); %.1f bytes a frame", r.Frames, r.Expected, r.LatenessP50MS, r.LatenessP99MS, r.BytesPerFrame)
	line("commands", "%d, %d accepted; answered after %.1f ms (median), %.1f ms (99 %%)", r.Commands, r.Accepted, r.CommandP50MS, r.CommandP99MS)
	line("lost", "%s", console.Count(r.ConnectionsLost, "connection"))
	line("late join", "live after %.0f ms, with a state of %s; after a lost connection the stream continued %.1f ms after the new socket",
		r.JoinMS, console.Size(int64(r.StateBytes)), r.ResumeMS)
	r.Viewers.print(line)
	if r.Spectators > 0 {
		line("spectators", "%s, %d frames, late by %.1f ms (99 %%)", console.Count(r.Spectators, "spectator"), r.SpectatorFrames, r.SpectatorLateP99)
	}
}

// add sums up the measurements of the players and the spectators.
func (r *netResult) add(due *dueTime, players, spectators []*loadGuest) {
	var late, answers []time.Duration
	bytes := 0
	for _, g := range players {
		frames, missing := r.close(due, g)
		r.Expected, r.Frames = r.Expected+len(frames), r.Frames+len(frames)-missing
		late, answers = append(late, frames...), append(answers, g.answers...)
		r.Commands += g.commands
		r.Accepted += g.accepted
		bytes += g.bytes
	}
	r.LatenessP50MS, r.LatenessP99MS = percentiles(late)
	r.CommandP50MS, r.CommandP99MS = percentiles(answers)
	r.BytesPerFrame = float64(bytes) / float64(max(r.Frames, 1))
	late = nil
	for _, g := range spectators {
		frames, missing := r.close(due, g)
		r.SpectatorFrames += len(frames) - missing
		late = append(late, frames...)
	}
	r.Spectators = len(spectators)
	_, r.SpectatorLateP99 = percentiles(late)
}

// close ends the measurements of a guest, and returns how late its frames were, and how many did not arrive.
func (r *netResult) close(due *dueTime, g *loadGuest) (late []time.Duration, missing int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.measuring = false
	if g.err != nil {
		r.ConnectionsLost++
	}
	return due.late(g.arrivals)
}

// lateJoin measures how long a client that simulates takes to join an empty match, and to come back after a lost connection.
func (r *netResult) lateJoin(ctx context.Context, g *gameset.Playable, url, token string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	synced, back := make(chan time.Time, 1), make(chan time.Duration, 1)
	var connected time.Time
	s := client.Dial(ctx, url, g.Game, client.Options{Options: player.Options{Token: token}, Handle: func(_ *player.Client, e any) {
		switch e := e.(type) {
		case player.Connected:
			connected = time.Now()
		case player.SyncProgress:
			r.StateBytes = max(r.StateBytes, e.TotalBytes)
		case player.Synced:
			select {
			case synced <- time.Now():
			default:
			}
		case player.StreamResumed:
			back <- time.Since(connected)
		}
	}})
	from := time.Now()
	select {
	case at := <-synced:
		r.JoinMS = console.Milliseconds(at.Sub(from))
	case <-ctx.Done():
		return fmt.Errorf("late join: %w", ctx.Err())
	}
	if err := s.Cut(); err != nil {
		return err
	}
	select {
	case d := <-back:
		r.ResumeMS = console.Milliseconds(d)
	case <-ctx.Done():
		return fmt.Errorf("resume: %w", ctx.Err())
	}
	cancel()
	s.Wait()
	return nil
}
