//go:build !js

package gameset

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/urfave/cli/v2"
)

// The flags that choose one of several scenarios and bots.
var (
	ScenarioFlag = &cli.StringFlag{Name: "scenario", Usage: "`NAME` of a scenario of the game, such as a map; the default is a usual match"}
	BotFlag      = &cli.StringFlag{Name: "bot", Usage: "`NAME` of the bots of the game, such as their strength; the default is the usual one"}
)

// chosen returns the choice with a name.
func (g *Playable) chosen(what string, list []Choice, name string) (*Choice, error) {
	for i := range list {
		if list[i].Name == name {
			return &list[i], nil
		}
	}
	names := ChoiceNames(list)
	if len(names) == 0 {
		return nil, fmt.Errorf("game %s has no %ss to choose, got %.64q", g.Name(), what, name)
	}
	return nil, fmt.Errorf("unknown %s %.64q of game %s, want %s", what, name, g.Name(), strings.Join(names, " or "))
}

// ChoiceNames returns the names of choices.
func ChoiceNames(list []Choice) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

// In returns the game with a scenario as its usual match. "" changes nothing.
func (g *Playable) In(scenario string) (*Playable, error) {
	if scenario == "" {
		return g, nil
	}
	c, err := g.chosen("scenario", g.Scenarios, scenario)
	if err != nil {
		return nil, err
	}
	other := *g
	other.Usual, other.Sized = c.Usual, nil
	return &other, nil
}

// Against returns the game with other bots as the usual ones. "" changes nothing.
func (g *Playable) Against(bot string) (*Playable, error) {
	if bot == "" {
		return g, nil
	}
	c, err := g.chosen("bot", g.Opponents, bot)
	if err != nil {
		return nil, err
	}
	other := *g
	other.Maker = c.Maker
	return &other, nil
}

// ErrBoth refuses a size of a match whose scenario says it.
var ErrBoth = errors.New("got units and a scenario, want one of them")

// InScenario returns the game with the scenario of --scenario.
func (g *Playable) InScenario(c *cli.Context) (*Playable, error) {
	name := c.String(ScenarioFlag.Name)
	other, err := g.In(name)
	if err != nil {
		return nil, console.Usagef("%s: %v", console.Spelled(c, ScenarioFlag.Name), err)
	}
	return other, nil
}

// AgainstBots returns the game with the bots of --bot.
func (g *Playable) AgainstBots(c *cli.Context) (*Playable, error) {
	other, err := g.Against(c.String(BotFlag.Name))
	if err != nil {
		return nil, console.Usagef("%s: %v", console.Spelled(c, BotFlag.Name), err)
	}
	return other, nil
}
