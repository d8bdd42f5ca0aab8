//go:build !js

package replays

import (
	"cmp"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

var segmentFlag = &cli.UintFlag{Name: "segment", Value: 600, Usage: "begin a new segment at the first keyframe after `N` ticks"}

func replaySealCommand() *cli.Command {
	return &cli.Command{
		Name:      "seal",
		Usage:     "compress a replay, and add an index",
		ArgsUsage: "IN... OUT",
		Description: `Writes the same match in compressed segments that begin at keyframes. OUT must
not exist, and appears when it is complete. If a crash cut the file short, OUT gets
an end record that says so, and stderr tells how many ticks are left. For a file
that is damaged inside, see recover. If there are several IN, OUT is a folder.` + batchHelp,
		Flags:  []cli.Flag{segmentFlag, withRulesFlag, referenceFlag, console.JSONFlag, JobsFlag},
		Action: sealSome,
	}
}

func sealSome(c *cli.Context) error {
	args := c.Args().Slice()
	in, out := args[:len(args)-1], args[len(args)-1]
	if !IsBatch(in) && !gameset.IsFolder(out) {
		return written(sealed(func(c *cli.Context, r *replay.Reader, w *replay.Writer) error { return sealReplay(c, in[0], r, w) }))(c)
	}
	b, err := NewBatch(c, in, ReplayExtension)
	if err != nil {
		return err
	}
	options := optionsWithRules(c)
	return b.run(c, func(f *replay.File, in BatchInput) BatchRow {
		path := filepath.Join(out, in.rel)
		o, err := options(f)
		if err != nil {
			return BatchRow{Err: err}
		}
		r, err := f.Reader()
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o777)
		}
		if err == nil {
			err = files.Create(path, func(out *os.File) error { return sealReplay(c, f.Path(), r, replay.NewWriter(out, o)) })
		}
		if err != nil {
			return BatchRow{Err: err}
		}
		file, err := summaryOf(path)
		if err != nil {
			return BatchRow{Err: err}
		}
		return BatchRow{value: struct {
			Sealed writtenFile  `json:"sealed"`
			Class  replay.Class `json:"class"`
		}{*file, file.Class}, text: fmt.Sprintf("%s, %s, now %s", path, console.Count(file.Ticks, "tick"), console.Size(file.SizeBytes))}
	})
}

// sealReplay seals the match of a file, and closes one that a crash left open.
func sealReplay(c *cli.Context, name string, r *replay.Reader, w *replay.Writer) error {
	found, err := replay.Recover(w, r)
	if err != nil || found.Damage == nil {
		return err
	}
	if found.Damage.Next > 0 || !errors.Is(found.Damage, io.ErrUnexpectedEOF) {
		return found.Damage
	}
	was := fmt.Sprintf("was torn at byte %d", found.Damage.Offset)
	if replay.ClassOf(found.Damage) == replay.ClassSuspended {
		was = "is of a suspended match"
	}
	_, err = fmt.Fprintf(c.App.ErrWriter, "%s: %s %s: %s are left\n", c.App.Name, console.Shown(name), was, console.Count(found.Ticks, "tick"))
	return err
}

func replayCutCommand() *cli.Command {
	return &cli.Command{
		Name:      "cut",
		Usage:     "write the beginning of a replay, up to a tick",
		ArgsUsage: "IN OUT",
		Description: `The new replay ends after the tick, and its end record says so. Its content hash is
that of the whole match up to the tick. A match that is not longer stays whole.`,
		Flags: []cli.Flag{&cli.UintFlag{Name: "tick", Usage: "end at tick `T`", DefaultText: "none: name one"}, segmentFlag, console.JSONFlag},
		Action: written(sealed(func(c *cli.Context, r *replay.Reader, w *replay.Writer) error {
			if !c.IsSet("tick") {
				return console.Usagef("want --tick T, the tick to end at")
			}
			return replay.Cut(w, r, gameset.TickOf(c, "tick"))
		})),
	}
}

func replayRekeyCommand() *cli.Command {
	return &cli.Command{
		Name:      "rekey",
		Usage:     "write a replay with other keyframes",
		ArgsUsage: "IN OUT",
		Description: `More keyframes make seeking faster, and fewer make the file smaller. The match and its
content hash stay the same. --every 0 keeps only the first keyframe, and does not
need the game's code. Otherwise the match is simulated, and every checksum on the
way is compared.`,
		Flags:  []cli.Flag{&cli.UintFlag{Name: "every", Usage: "write a keyframe every `N` ticks"}, segmentFlag, gameset.MaxTicksFlag, gameset.AssetsFlag, console.JSONFlag},
		Action: written(rekey),
	}
}

func rekey(c *cli.Context) error {
	if !c.IsSet("every") {
		return console.Usagef("want --every")
	}
	return copyReplay(c, func(f *replay.File, r *replay.Reader, out *os.File) (err error) {
		var game *lockstep.Game
		every := gameset.TickOf(c, "every")
		if every > 0 {
			if game, _, err = gameset.GameIn(c, f); err != nil {
				return err
			}
		}
		sealed, err := optionsWithRules(c)(f)
		if err != nil {
			return err
		}
		o, done := gameset.SimulateOptions(c)
		defer done()
		return replay.Rekey(replay.NewWriter(out, sealed), r, game, every, o)
	})
}

// sealed makes the action of a command that reads one replay, with a progress bar, and writes another, sealed.
func sealed(act func(*cli.Context, *replay.Reader, *replay.Writer) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return copyReplay(c, func(f *replay.File, _ *replay.Reader, out *os.File) error {
			o, err := optionsWithRules(c)(f)
			if err != nil {
				return err
			}
			r, done, err := gameset.Watched(c, f)
			if err != nil {
				return err
			}
			defer done()
			return act(c, r, replay.NewWriter(out, o))
		})
	}
}

// copyReplay lets act read the replay of the first argument and write the file of the second.
func copyReplay(c *cli.Context, act func(f *replay.File, r *replay.Reader, out *os.File) error) error {
	return gameset.WithReplay(c.Args().First(), func(f *replay.File) error {
		r, err := f.Reader()
		if err != nil {
			return err
		}
		return files.Create(c.Args().Get(1), func(out *os.File) error { return act(f, r, out) })
	})
}

// written wraps an action that writes a replay to its second argument. With --json it then prints a summary of that file.
func written(act cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Get(1) == "-" {
			return console.Usagef("OUT: got -, want a file: a sealed replay is not written to standard output")
		}
		if err := act(c); err != nil {
			return console.Refuse(c, err, nil)
		}
		if !c.Bool("json") {
			return nil
		}
		file, err := summaryOf(c.Args().Get(1))
		if err != nil {
			return err
		}
		return console.WriteJSON(c.App.Writer, file)
	}
}

func summaryOf(name string) (file *writtenFile, err error) {
	err = gameset.WithReplay(name, func(f *replay.File) error {
		info, err := f.Info()
		if err == nil {
			file = &writtenFile{f.Path(), info.SizeBytes, info.Ticks, info.ContentHash, info.Signed, replay.ClassOK}
		}
		return err
	})
	return file, err
}

type writtenFile struct {
	File        string        `json:"file"`
	SizeBytes   int64         `json:"size_bytes,string"`
	Ticks       lockstep.Tick `json:"ticks"`
	ContentHash replay.Hash   `json:"content_hash"`
	Signed      bool          `json:"signed"`
	Class       replay.Class  `json:"class"`
}

// sealedOptions returns the options of a sealed file. They and a frequent garbage collection keep the memory rule:
// [replay.LevelBest] takes 34 MiB, and saves 5% of the file.
func sealedOptions(c *cli.Context) replay.WriterOptions {
	Frugal()
	return replay.WriterOptions{Level: replay.LevelBetter, SegmentTicks: uint32(min(max(c.Uint("segment"), 1), 1<<31))}
}

// Frugal lets the garbage collector run when the heap has grown by a tenth, for verbs that keep a few large buffers.
func Frugal() { debug.SetGCPercent(10) }

func replaySignCommand() *cli.Command {
	return &cli.Command{
		Name:      "sign",
		Usage:     "sign the content of a replay",
		ArgsUsage: "IN OUT",
		Description: `Writes the same file with an Ed25519 signature of its content hash, for verify --key.
The key is a PEM file from "openssl genpkey -algorithm ed25519".`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "key", Usage: "the private key in `FILE` (PEM, PKCS #8)"},
			&cli.BoolFlag{Name: "rules", Usage: "sign the rules in the file, too"},
			console.JSONFlag,
		},
		Action: written(replaySign),
	}
}

func replaySign(c *cli.Context) error {
	if !c.IsSet("key") {
		return console.Usagef("want --key")
	}
	key, err := ReadKey[ed25519.PrivateKey](c.String("key"), "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return err
	}
	return copyReplay(c, func(_ *replay.File, r *replay.Reader, out *os.File) error {
		if c.Bool("rules") {
			return replay.SignWithRules(out, r, key)
		}
		return replay.Sign(out, r, key)
	})
}

// ReadKey reads an Ed25519 key from a PEM file.
func ReadKey[K ed25519.PrivateKey | ed25519.PublicKey](name, pemType string, parse func([]byte) (any, error)) (K, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("%s: no PEM block", name)
	}
	if block.Type != pemType {
		return nil, fmt.Errorf("%s: got a %s, want a %s", name, block.Type, pemType)
	}
	parsed, err := parse(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	key, ok := parsed.(K)
	if !ok {
		return nil, fmt.Errorf("%s: got a %T, want an Ed25519 key", name, parsed)
	}
	return key, nil
}

func replayRecoverCommand() *cli.Command {
	return &cli.Command{
		Name:      "recover",
		Usage:     "save the readable part of a torn or damaged replay",
		ArgsUsage: "IN OUT",
		Description: `OUT ends where a crash has cut the file short, or before the first damage inside it,
since ticks would be missing. The output tells where the damage is, which ticks are
lost, and where the file can be read again.`,
		Flags: []cli.Flag{console.JSONFlag, segmentFlag},
		Action: sealed(func(c *cli.Context, r *replay.Reader, w *replay.Writer) error {
			found, err := replay.Recover(w, r)
			if err != nil {
				return err
			}
			d := cmp.Or(found.Damage, &replay.DamageError{})
			return gameset.Tell(c, struct {
				Ticks    lockstep.Tick `json:"ticks"`
				Whole    bool          `json:"whole"`
				Offset   int64         `json:"offset,string"` // of the damage
				Next     int64         `json:"next,string"`   // the next readable block; 0 if the file is torn
				NextTick lockstep.Tick `json:"next_tick"`     // the tick before that block; 0 if it is not known
			}{found.Ticks, found.Damage == nil, d.Offset, d.Next, d.NextTick}, func(w io.Writer) { fmt.Fprintln(w, recoveryText(found)) }, nil)
		}),
	}
}

// recoveryText says in a line what recover has found.
func recoveryText(found *replay.Recovery) string {
	d, ticks := found.Damage, console.Count(found.Ticks, "tick")
	switch {
	case d == nil:
		return fmt.Sprintf("whole: all %s are there", ticks)
	case d.Next == 0:
		return fmt.Sprintf("%s at byte %d: %s are left", replay.ClassOf(d), d.Offset, ticks)
	case d.NextTick == 0:
		return fmt.Sprintf("damaged at byte %d: %s are left; ticks from %d on are lost, though there is more from byte %d on", d.Offset, ticks, found.Ticks+1, d.Next)
	}
	return fmt.Sprintf("damaged at byte %d: %s are left; ticks %d to %d are lost, and the match goes on from byte %d, which is not in the new file",
		d.Offset, ticks, found.Ticks+1, d.NextTick, d.Next)
}

var (
	withRulesFlag = &cli.StringFlag{Name: "with-rules", Usage: "write the module of the match's rules in `FILE` into OUT", DefaultText: "what IN has"}
	referenceFlag = &cli.BoolFlag{Name: "reference", Usage: "write only the sum of the module, which many matches can share"}
)

func replayAttachCommand() *cli.Command {
	return &cli.Command{
		Name:      "attach",
		Usage:     "put the rules of a match into its replay",
		ArgsUsage: "IN OUT",
		Description: `Writes the same file with the module of its rules, so that whoever has the file can
verify it. With --reference it has only the sum of the module, by which a folder of
modules is searched. The content hash and its signatures stay the same.`,
		Flags: []cli.Flag{
			withRulesFlag, referenceFlag,
			&cli.BoolFlag{Name: "none", Usage: "take the rules out of the file"},
			console.JSONFlag,
		},
		Action: written(replayAttach),
	}
}

func replayAttach(c *cli.Context) error {
	if c.IsSet(withRulesFlag.Name) == c.Bool("none") {
		return console.Usagef("want --with-rules or --none")
	}
	return copyReplay(c, func(_ *replay.File, r *replay.Reader, out *os.File) error {
		if c.Bool("none") {
			return replay.Attach(out, r, nil)
		}
		rules, err := newRules(c)
		if err != nil {
			return err
		}
		return replay.Attach(out, r, rules)
	})
}

func newRules(c *cli.Context) (*replay.Rules, error) {
	module, err := gameset.ModuleBytes(c.String(withRulesFlag.Name))
	if err != nil {
		return nil, err
	}
	rules, err := replay.NewRules(module)
	if err == nil && c.Bool(referenceFlag.Name) {
		rules = rules.Reference()
	}
	return rules, err
}

// optionsWithRules returns the options of a sealed copy of a file: with the rules of --with-rules, or else with those of the file.
func optionsWithRules(c *cli.Context) func(from *replay.File) (replay.WriterOptions, error) {
	given := sync.OnceValues(func() (*replay.Rules, error) { return newRules(c) })
	return func(from *replay.File) (o replay.WriterOptions, err error) {
		o = sealedOptions(c)
		if c.IsSet(withRulesFlag.Name) {
			o.Rules, err = given()
			return o, err
		}
		r, err := from.Reader()
		if err == nil {
			o.Rules, _ = r.Rules() // a file that is damaged before them says so when it is read
		}
		return o, err
	}
}
