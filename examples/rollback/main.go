// Command rollback is a duel of two ships over the network, on no engine of ours: KCP carries the inputs, and each player
// rolls back and computes again when an input comes late. Both record the ticks whose inputs are known with package recorder.
//
//	go run . --dir before              both players in one process
//	go run . --dir before --forget     the same with a mistake: a rollback does not restore the cooldowns of the guns
//	samestep replay bisect before/player0.jsonl before/player1.jsonl
//
// bisect finds the tick by the sums, and says which states it needs. Play the match again, and compare the new recordings to
// find the field:
//
//	SAMESTEP_DUMP=77,78 go run . --dir again --forget
//	samestep replay bisect again/player0.jsonl again/player1.jsonl
//
// Players on two machines are --listen :7777 and --dial host:7777.
//
// A match can only be played again if the same inputs come equally late. So the players press buttons by a seed, and an
// input that comes earlier than a second seed says waits until then.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Settings are those of a match.
type settings struct {
	dir    string
	ticks  uint32
	seed   uint32
	forget bool
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rollback:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("rollback", flag.ContinueOnError)
	dir := flags.String("dir", ".", "the folder of the recordings")
	ticks := flags.Uint("ticks", 600, "the length of the match, 60 a second")
	seed := flags.Uint("seed", 7, "of the buttons and of the delays, above 0")
	forget := flags.Bool("forget", false, "do not restore the cooldowns in a rollback")
	listenOn := flags.String("listen", "", "play as player 0, and wait for the other player at this address")
	dialTo := flags.String("dial", "", "play as player 1, with the player at this address")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // Parse has printed it
	} else if err != nil {
		return err
	}
	s := settings{*dir, uint32(*ticks), uint32(*seed), *forget}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	switch {
	case *listenOn != "":
		return s.serve(*listenOn, out, nil)
	case *dialTo != "":
		return s.connect(*dialTo, out)
	}
	return s.both(out)
}

// both plays with both players in this process.
func (s settings) both(out io.Writer) error {
	address := make(chan string, 1)
	var wait sync.WaitGroup
	var served error
	wait.Go(func() {
		defer close(address)
		served = s.serve("127.0.0.1:0", out, address)
	})
	var connected error
	if a, ok := <-address; ok {
		connected = s.connect(a, out)
	}
	wait.Wait()
	return errors.Join(served, connected)
}

// serve plays as player 0. It tells the address on which it listens.
func (s settings) serve(address string, out io.Writer, bound chan<- string) error {
	l, at, err := bind(address)
	if err != nil {
		return err
	}
	defer l.Close()
	if bound != nil {
		bound <- at.String()
	}
	other, err := listen(l)
	if err != nil {
		return err
	}
	defer other.conn.Close()
	return s.play(0, other, out)
}

// connect plays as player 1.
func (s settings) connect(address string, out io.Writer) error {
	other, err := dial(address)
	if err != nil {
		return err
	}
	defer other.conn.Close()
	return s.play(1, other, out)
}

// play runs a match of a player, and records it.
func (s settings) play(me int, other *link, out io.Writer) error {
	o, err := newObserver(filepath.Join(s.dir, fmt.Sprintf("player%d.jsonl", me)), me, s.seed)
	if err != nil {
		return err
	}
	game := newSession(me)
	game.confirm, game.forget = o.tick, s.forget
	o.state(game.now)
	buttons, delays := hands{random: newRandom(s.seed, me)}, newRandom(s.seed+1000, me)
	for game.now.Tick < s.ticks {
		input := buttons.press()
		game.add(me, input)
		if err := other.send(input); err != nil {
			return err
		}
		for late := delays.upTo(8); game.known(1-me)+late < game.known(me); {
			input, err := other.receive()
			if err != nil {
				return err
			}
			game.add(1-me, input)
		}
		if err := game.advance(); err != nil {
			return err
		}
	}
	for game.known(1-me) < game.known(me) {
		input, err := other.receive()
		if err != nil {
			return err
		}
		game.add(1-me, input)
	}
	game.correct()
	other.leave()
	fmt.Fprintf(out, "player %d: %d ticks, %d rollbacks, hits %d and %d\n", me, game.now.Tick, game.rollbacks, game.now.Ships[0].Hits, game.now.Ships[1].Hits)
	return o.end(game.now)
}
