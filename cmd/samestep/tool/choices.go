//go:build !js

package tool

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/urfave/cli/v2"
)

// The flags that choose one of several scenarios and bots.
var (
	scenarioFlag = &cli.StringFlag{Name: "scenario", Usage: "`NAME` of a scenario of the game, such as a map; the default is a usual match"}
	botFlag      = &cli.StringFlag{Name: "bot", Usage: "`NAME` of the bots of the game, such as their strength; the default is the usual one"}
)

// chosen returns the choice with a name.
func (g *playable) chosen(what string, list []choice, name string) (*choice, error) {
	for i := range list {
		if list[i].name == name {
			return &list[i], nil
		}
	}
	names := choiceNames(list)
	if len(names) == 0 {
		return nil, fmt.Errorf("game %s has no %ss to choose, got %.64q", g.Name(), what, name)
	}
	return nil, fmt.Errorf("unknown %s %.64q of game %s, want %s", what, name, g.Name(), strings.Join(names, " or "))
}

// choiceNames returns the names of choices.
func choiceNames(list []choice) (names []string) {
	for _, c := range list {
		names = append(names, c.name)
	}
	return names
}

// in returns the game with a scenario as its usual match. "" changes nothing.
func (g *playable) in(scenario string) (*playable, error) {
	if scenario == "" {
		return g, nil
	}
	c, err := g.chosen("scenario", g.scenarios, scenario)
	if err != nil {
		return nil, err
	}
	other := *g
	other.usual, other.sized = c.usual, nil
	return &other, nil
}

// against returns the game with other bots as the usual ones. "" changes nothing.
func (g *playable) against(bot string) (*playable, error) {
	if bot == "" {
		return g, nil
	}
	c, err := g.chosen("bot", g.opponents, bot)
	if err != nil {
		return nil, err
	}
	other := *g
	other.maker = c.maker
	return &other, nil
}

// errBoth refuses a size of a match whose scenario says it.
var errBoth = errors.New("got units and a scenario, want one of them")

// inScenario returns the game with the scenario of --scenario.
func (g *playable) inScenario(c *cli.Context) (*playable, error) {
	name := c.String(scenarioFlag.Name)
	other, err := g.in(name)
	if err != nil {
		return nil, console.Usagef("%s: %v", console.Spelled(c, scenarioFlag.Name), err)
	}
	return other, nil
}

// againstBots returns the game with the bots of --bot.
func (g *playable) againstBots(c *cli.Context) (*playable, error) {
	other, err := g.against(c.String(botFlag.Name))
	if err != nil {
		return nil, console.Usagef("%s: %v", console.Spelled(c, botFlag.Name), err)
	}
	return other, nil
}
