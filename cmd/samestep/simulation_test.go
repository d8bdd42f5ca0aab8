package main

import (
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/simulate"
)

// The command that plays a failure again plays the same match, whatever flags it
// was found with.
func TestAgain(t *testing.T) {
	const seed = 12
	parse := func(args []string, from uint64) (p *simulate.Plan, command string) {
		app := newApp(io.Discard, io.Discard)
		app.Command("simulate").Action = func(c *cli.Context) error {
			campaign, err := campaignOf(c)
			if err != nil {
				return err
			}
			if from == 0 {
				from = campaign.First
			}
			p, command = simulate.Expand(campaign.Options, from), again(c, from)
			return nil
		}
		if err := app.Run(args); err != nil {
			t.Fatal(err)
		}
		return p, command
	}
	plain, _ := parse([]string{"samestep", "simulate"}, seed)
	for _, flags := range [][]string{
		nil,
		{"--minutes", "0.2", "--calm"},
		{"--minutes", "0.75"},
		{"--minutes", "7", "--clients", "3"},
		{"--calm"},
		{"--only", "one-way up,power cut"},
	} {
		want, command := parse(append([]string{"samestep", "simulate"}, flags...), seed)
		head, only, quoted := strings.Cut(command, " --only ")
		args := strings.Fields(head)
		if quoted {
			only, err := strconv.Unquote(only)
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, "--only", only)
		}
		if got, _ := parse(args, 0); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %s is another match", flags, command)
		}
		if flags != nil && reflect.DeepEqual(want, plain) {
			t.Errorf("%v: the same match as without", flags)
		}
	}
}

// So many units as were asked for are played again, too.
func TestAgainUnits(t *testing.T) {
	var command string
	app := newApp(io.Discard, io.Discard)
	app.Command("simulate").Action = func(c *cli.Context) error {
		command = again(c, 1)
		return nil
	}
	if err := app.Run([]string{"samestep", "simulate", "--units", "77"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(command, " --units 77") {
		t.Error(command)
	}
}
