package skirmish_test

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// Two bots play five minutes; coordinator and follower share one log, so they see the same match.
func Example() {
	game := lockstep.MustGame(skirmish.Rules())
	settings := lockstep.DefaultSettings(2)
	config := skirmish.Defaults(2, 100)
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &config)
	if err != nil {
		panic(err)
	}
	follower := game.NewFollower(lockstep.FollowerOptions{})
	match, err := coordinator.New(game, header, follower, coordinator.Options{})
	if err != nil {
		panic(err)
	}
	payloads := game.NewPayloads()
	var bots []*skirmish.Bot
	for p := range lockstep.Player(2) {
		if _, err := match.Join(p); err != nil {
			panic(err)
		}
		bots = append(bots, skirmish.NewBot(p, settings.Seed))
	}
	var sequence [2]lockstep.Sequence
	for range 6000 {
		world := lockstep.World[skirmish.World](follower.Simulation())
		for p, bot := range bots {
			for _, order := range bot.Think(world) {
				kind, payload, err := payloads.Encode(order.Value)
				if err != nil {
					panic(err)
				}
				sequence[p]++
				match.Submit(lockstep.Player(p), sequence[p], kind, payload)
			}
		}
		if _, err := match.Tick(); err != nil {
			panic(err)
		}
	}
	world := lockstep.World[skirmish.World](follower.Simulation())
	if end, over := follower.Simulation().Ended(); over { // a match of bots may last longer
		var result skirmish.Result
		fmt.Println(len(end), result.Winner)
	}
	fmt.Println("same checksum:", follower.Simulation().Hash() == match.Referee().Simulation().Hash())
	fmt.Println("both mine:", world.Players[0].Gathered > 500 && world.Players[1].Gathered > 500)
	fmt.Println("both fight:", world.Players[0].Kills > 10 && world.Players[1].Kills > 10)
	// Output:
	// same checksum: true
	// both mine: true
	// both fight: true
}

// Commands as text.
func ExampleRules() {
	describe := skirmish.Rules().Describe
	squad := skirmish.Who{Units: []skirmish.UnitID{3, 5, 8}}
	to := skirmish.PointAt(fixed.Vec2{X: fixed.FromRatio(63, 2), Y: fixed.FromRatio(161, 4)})
	for _, value := range []any{
		&skirmish.Move{Who: squad, To: to},
		&skirmish.AttackMove{Who: skirmish.Who{Group: 2}, To: to, Queued: true},
		&skirmish.Patrol{Who: skirmish.Who{Units: []skirmish.UnitID{17}}, To: to},
		&skirmish.Attack{Who: squad, Target: 40},
		&skirmish.Stop{Who: squad},
		&skirmish.Gather{Who: squad, Crystal: 6},
		&skirmish.Build{Who: squad, Kind: skirmish.Tower, At: to},
		&skirmish.Train{Building: 9, Kind: skirmish.Archer, Count: 4},
		&skirmish.Assign{Group: 3, Units: squad.Units},
		&skirmish.Assign{Group: 3, Add: true, Units: squad.Units},
		&skirmish.Assign{Units: squad.Units},
		&skirmish.Propose{To: 3},
		&skirmish.Propose{To: 3, Withdraw: true},
		&skirmish.Accept{From: 0},
		&skirmish.Break{},
		&skirmish.Surrender{},
		&skirmish.Surrender{Withdraw: true},
		&skirmish.Permit{Observers: true},
		&skirmish.Permit{},
		&skirmish.Ping{At: to},
		&lockstep.Left{Player: 1},
	} {
		fmt.Println(describe(&lockstep.Command{Player: 2, Value: value}))
	}
	// Output:
	// player 2 moves 3 units to 31.5,40.25
	// player 2 attacks towards 31.5,40.25 with group 2 afterwards
	// player 2 lets unit 17 patrol to 31.5,40.25
	// player 2 attacks unit 40 with 3 units
	// player 2 stops 3 units
	// player 2 lets 3 units gather crystal 6
	// player 2 lets 3 units build a tower at 31.5,40.25
	// player 2 trains 4 × archer in building 9
	// player 2 makes 3 units group 3
	// player 2 adds 3 units to group 3
	// player 2 takes 3 units out of their groups
	// player 2 offers player 3 an alliance
	// player 2 no longer offers player 3 an alliance
	// player 2 allies with player 0
	// player 2 breaks the alliance
	// player 2 votes to surrender
	// player 2 no longer votes to surrender
	// player 2 shares its sight with observers
	// player 2 hides its sight from observers
	// player 2 marks the place 31.5,40.25
	// player 2 gives an unknown command &{Player:1}
}

// The map grows with the number of units.
func ExampleDefaults() {
	for _, units := range []uint16{100, 1000, 10000} {
		c := skirmish.Defaults(4, units)
		fmt.Printf("%d units on %d × %d cells, %d workers each\n", c.Units, c.Size, c.Size, c.Workers)
	}
	// Output:
	// 100 units on 64 × 64 cells, 4 workers each
	// 1000 units on 128 × 128 cells, 41 workers each
	// 10000 units on 400 × 400 cells, 60 workers each
}

// A random layout as a map file, which somebody can change by hand.
func ExampleGenerate() {
	c := skirmish.Defaults(2, 100)
	rand := fixed.NewRand(7)
	file, err := skirmish.Generate(&rand, 2, &c).AppendText(nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Join(strings.SplitN(string(file), "\n", 6)[:5], "\n"))
	// Output:
	// skirmish map 1
	// size 64
	// base 50 50
	// base 14 14
	// crystal 55.25 47 1500
}

func ExampleParseMap() {
	_, err := skirmish.ParseMap([]byte("skirmish map 1\nsize 64\nbase 12 80\n"))
	fmt.Println(err)
	// Output: skirmish: bad map: line 3: the place is 12 80, want it on the map of 64 cells
}

func ExampleUnitKind_Traits() {
	for _, kind := range []skirmish.UnitKind{skirmish.Worker, skirmish.Soldier, skirmish.Archer, skirmish.Tower} {
		t := kind.Traits()
		fmt.Printf("%v: health %d, damage %d every %d ticks at %v cells, costs %d\n", kind, t.Health, t.Damage, t.Cooldown, t.Range, t.Cost)
	}
	// Output:
	// worker: health 40, damage 3 every 12 ticks at 0.25 cells, costs 50
	// soldier: health 100, damage 7 every 10 ticks at 0.5 cells, costs 75
	// archer: health 55, damage 12 every 14 ticks at 6 cells, costs 80
	// tower: health 800, damage 12 every 14 ticks at 6 cells, costs 150
}
