package live_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page/live"
	"github.com/seed-49bee653/samestep/page/watch"
)

// A user plays alone, and watches the match afterwards.
func ExamplePlay() {
	game := lockstep.MustGame(minimal.Rules())
	m, err := live.Play(game, live.Solo{Name: "Ann", Config: &minimal.Config{Size: 20, Coins: 50}, Seed: 1, Bots: make([]lockstep.Bot, 1)}, live.Options{})
	if err != nil {
		panic(err)
	}
	for tick := lockstep.Tick(0); tick < 3; time.Sleep(time.Millisecond) {
		m.Do(func(c *player.Client) { tick = c.Tick() })
	}
	s, _ := m.Status()
	fmt.Println(s.Link.State, s.Seats[0].Name)
	m.Leave()
	<-m.Done()
	v, err := watch.Open(m.Replay(), game)
	fmt.Println(err, v.About().Last >= 3, v.About().Ended)
	// Output:
	// live Ann
	// <nil> true the player has left
}

// A match in this process plays bots, and ends for the page as any other does.
func TestPlayAgainstBots(t *testing.T) {
	game := lockstep.MustGame(minimal.Rules())
	bot := minimal.NewBot(1, 7)
	m, err := live.Play(game, live.Solo{Config: &minimal.Config{Size: 20, Coins: 50}, Seed: 1, Bots: []lockstep.Bot{nil, bot}}, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seats := 0
	for deadline := time.Now().Add(time.Minute); seats < 2 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s, _ := m.Status()
		seats = len(s.Seats)
	}
	if seats != 2 {
		t.Errorf("got %d seats, want 2", seats)
	}
	m.Close()
	if s, ok := m.Status(); !ok || s.Link.State != "ended" {
		t.Errorf("after the end: got %+v", s.Link)
	}
	if _, err := live.Play(game, live.Solo{Config: &minimal.Config{}, Bots: make([]lockstep.Bot, 300)}, live.Options{}); err == nil {
		t.Error("a match that the game refuses: got no error")
	}
}
