package host_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A killed server continues after the last tick of its log: the player is lost until it comes back, and the host knows
// its earlier commands.
func ExampleRecovery() {
	game := lockstep.MustGame(testgame.LampRules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		panic(err)
	}
	var log testgame.Records // a replay file, in earnest
	options := host.Options{
		Authorize: func(string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: 1, Name: "Ann"}, nil
		},
		Random: func(b []byte) { b[0] = 1 },
	}
	h, err := host.New(game, header, options)
	if err != nil {
		panic(err)
	}
	joinLamps(h, "ann")
	for r := h.Ready(); ; r = h.Ready() {
		if err := r.AppendTo(&log); err != nil {
			panic(err)
		}
		if h.Now() == 40 {
			break
		}
		h.Persisted(r.Next, r.Position)
		h.Advance(r.Next)
	}

	var r *host.Recovery = host.NewRecovery(game)
	for _, record := range log {
		if err := r.Append(record); err != nil {
			panic(err)
		}
	}
	h, err = r.Host(0, options)
	if err != nil {
		panic(err)
	}
	joinLamps(h, "ann")
	for range 2 {
		r := h.Ready()
		for _, e := range r.Events {
			fmt.Println(e)
		}
		h.Advance(r.Next)
	}
	fmt.Println("goes on at tick", h.Now())
	// Output:
	// tick 40: player 1 resumed: Ann
	// tick 40: player 1 synced: joined
	// goes on at tick 41
}

// A log that cannot be continued is refused with the reason.
func TestRecoveryRefuses(t *testing.T) {
	options := host.Options{Random: func(b []byte) {}}
	game := lockstep.MustGame(testgame.LampRules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	var log testgame.Records
	h, err := host.New(game, header, options)
	if err != nil {
		t.Fatal(err)
	}
	for h.Now() < 25 {
		r := h.Ready()
		_ = r.AppendTo(&log)
		h.Advance(r.Next)
	}
	if err := h.Admin().End(0, "done"); err != nil {
		t.Fatal(err)
	}
	_ = h.Ready().AppendTo(&log)
	feed := func(records [][]byte) (*host.Recovery, error) {
		r := host.NewRecovery(game)
		for _, record := range records {
			if err := r.Append(record); err != nil {
				return r, err
			}
		}
		return r, nil
	}
	if r, err := feed(nil); err != nil {
		t.Error(err)
	} else if _, err := r.Host(0, options); !errors.Is(err, record.ErrOutOfPlace) {
		t.Errorf("without a state: got %v", err)
	}
	if r, err := feed(log); err != nil {
		t.Error(err)
	} else if _, err := r.Host(0, options); !errors.Is(err, coordinator.ErrEnded) {
		t.Errorf("after the end: got %v", err)
	}
	open := log[:len(log)-1]
	if r, err := feed(open); err != nil || r.Tick() != 25 {
		t.Error(err, r.Tick())
	} else if _, err := r.Host(0, host.Options{Relay: true, Random: options.Random}); err == nil || !strings.Contains(err.Error(), "referee") {
		t.Errorf("without a referee: got %v", err)
	}
	sums := slices.Clone(open)
	i := slices.IndexFunc(sums, func(b []byte) bool { return record.KindOf(b) == record.KindChecksum })
	sums[i] = slices.Clone(sums[i])
	sums[i][len(sums[i])-1] ^= 1
	var desync *lockstep.DesyncError
	if r, err := feed(sums); err != nil {
		t.Error(err)
	} else if _, err := r.Host(0, options); !errors.As(err, &desync) {
		t.Errorf("another checksum: got %v", err)
	}
	if _, err := feed([][]byte{log[0], append(slices.Clone(log[1]), 0)}); !errors.Is(err, record.ErrMalformed) {
		t.Errorf("a byte too many: got %v", err)
	}
}

// The match continues from a log that is cut anywhere. Nothing in the rest is lost or run twice, and the later frames
// are those of the log so far.
func TestRecoveryAtEveryRecord(t *testing.T) {
	game := lockstep.MustGame(testgame.BankRules())
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 5, 10
	header, err := game.NewHeader(lockstep.MatchID{5}, s, &testgame.BankConfig{Start: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var log testgame.Records
	c, err := coordinator.New(game, header, &log, coordinator.Options{InputDelay: 3})
	if err != nil {
		t.Fatal(err)
	}
	payloads := game.NewPayloads()
	if _, err := c.Join(0); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		kind, b, err := payloads.Encode(&testgame.Earn{Coins: uint16(i)})
		if err != nil {
			t.Fatal(err)
		}
		c.Submit(0, lockstep.Sequence(i+1), kind, b)
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	for n := 2; n <= len(log); n++ {
		kept := slices.Clone(log[:n])
		r := host.NewRecovery(game)
		for _, record := range kept {
			if err := r.Append(record); err != nil {
				t.Fatal(err)
			}
		}
		from := r.Tick()
		h, err := r.Host(0, host.Options{
			Random:    func(b []byte) { b[0] = 1 },
			Authorize: func(string) (host.Grant, error) { return host.Grant{Role: protocol.Seated}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			r := h.Ready()
			_ = r.AppendTo(&kept)
			h.Advance(r.Next)
		}
		_ = h.Ready().AppendTo(&kept)
		follower := game.NewFollower(lockstep.FollowerOptions{})
		for _, record := range kept {
			if err := follower.Append(record); err != nil {
				t.Fatalf("%d records: %v", n, err)
			}
		}
		if follower.Tick() != h.Now() || h.Now() != from+7 || follower.Simulation().Hash() != h.Referee().Simulation().Hash() {
			t.Fatalf("%d records: the log leads to tick %d, the host is at tick %d", n, follower.Tick(), h.Now())
		}
		if err := h.Info().CheckBounds(1 << 12); err != nil {
			t.Fatal(err)
		}
	}
}
