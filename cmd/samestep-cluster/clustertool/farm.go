//go:build !js

package clustertool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func farmCommand() *cli.Command {
	return &cli.Command{
		Name:        "farm",
		Usage:       "verify many replays on many machines",
		Subcommands: []*cli.Command{farmWorkCommand(), farmSubmitCommand(), farmWatchCommand(), farmResultsCommand(), farmForgetCommand()},
	}
}

func farmSubmitCommand() *cli.Command {
	return &cli.Command{
		Name:      "submit",
		Usage:     "store the replays of a folder, and queue them for the farm",
		ArgsUsage: "[DIR]",
		Description: `Stores the *.ssr files in DIR and below it, without the logs in a server's folder
"live", and queues a job for each. What the storage has, what is queued and what has a
result of the build is left alone, so an interrupted submit can be repeated. A file
keeps its content: another one of the same name is refused. --archive queues all
replays that the storage has instead, those of the cluster's archive included.

With --rules it also stores the module (samestep rules build), and the workers of that
build take it from the storage: so a patch meets all matches of its game, of any build,
on all machines, and none of them needs another program. It prints the build.`,
		Flags: buildFlags(
			&cli.StringFlag{Name: "rules", Usage: "verify with the rules of the module in `FILE`; its SHA-256 is the build"},
			&cli.BoolFlag{Name: "archive", Usage: "queue the replays in the storage, instead of a folder"},
			&cli.StringFlag{Name: "as", Value: "farm", Usage: "`PREFIX` of the files' names in the storage"},
			&cli.IntFlag{Name: "replicas", Value: 1, Usage: "keep `N` copies, 1, 3 or 5, if this is the first use of the storage"},
		),
		Action: onBuild(storage.OperatorRole, checkSubmit, farmSubmit),
	}
}

// setupTime is the time limit for making what the storage does not have yet.
const setupTime = 30 * time.Second

func checkSubmit(c *cli.Context) error {
	if c.Bool("archive") == c.Args().Present() {
		return tool.Usagef("want either DIR or --archive")
	}
	if c.IsSet("rules") && c.IsSet("build") {
		return tool.Usagef("--build cannot be used with --rules: the build is the sum of the module")
	}
	return checkReplicas(c, c.Int("replicas"))
}

func farmSubmit(c *cli.Context, conn *storage.Conn, build string) error {
	module, sum, err := rulesOf(c)
	if err != nil {
		return err
	}
	ctx, stop := tool.Interruptible(c)
	defer stop()
	setup, cancel := context.WithTimeout(ctx, setupTime)
	defer cancel()
	if err := conn.Setup(setup, storage.Layout{Replicas: c.Int("replicas")}); err != nil {
		return err
	}
	if module != nil {
		build = sum
		if err := storeRules(setup, conn, module, sum); err != nil {
			return err
		}
	}
	o := farm.SubmitOptions{Build: build, Prefix: c.String("as"), Wait: func(err error) {
		fmt.Fprintf(c.App.ErrWriter, "waiting for the storage: %v\n", err)
	}}
	var sent farm.Submitted
	if c.Bool("archive") {
		sent, err = farm.SubmitArchive(ctx, conn, o)
	} else {
		sent, err = farm.Submit(ctx, conn, c.Args().First(), o)
	}
	if err == nil && sent.Files == 0 {
		return fmt.Errorf("%s: no *.ssr files", c.Args().First())
	}
	return tool.Tell(c, struct {
		Build string `json:"build"`
		farm.Submitted
	}{build, sent}, func(w io.Writer) {
		fmt.Fprintf(w, "build %s: %s, %d uploaded, %d queued, %d with a result\n", build, words.Count(sent.Files, "file"), sent.Uploaded, sent.Queued, sent.Known)
	}, err)
}

func farmWorkCommand() *cli.Command {
	return &cli.Command{
		Name:  "work",
		Usage: "verify replays of the farm with this program's games",
		Description: `Takes jobs of the build from the queue, one after the other, verifies each file as
replay verify does, and stores the result. If the build is the sum of a module of rules
that submit --rules has stored, it verifies with them. Start it on as many machines as you like.
It prints a line for each file, waits while the storage is away, and ends with an
interrupt, or with --until-empty. A file that kills its workers is set aside.`,
		Flags: buildFlags(
			&cli.IntFlag{Name: "jobs", Usage: "work on `N` files at a time", DefaultText: "one for each processor"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of this worker in results (default: the machine and the process)"},
			&cli.UintFlag{Name: "max-ticks", Usage: "refuse to simulate more than `N` ticks", DefaultText: "as replay verify"},
			&cli.IntFlag{Name: "max-deliver", Value: 5, Usage: "set a file aside when `N` workers have begun with it and none has finished"},
			&cli.DurationFlag{Name: "ack-wait", Value: 30 * time.Second, Usage: "give the job of a worker that is silent for `TIME` to another"},
			&cli.StringFlag{Name: "temp", Usage: "keep each replay in `FOLDER` while it is verified (default: the system's)"},
			&cli.BoolFlag{Name: "until-empty", Usage: "end when no job is left"},
			tool.AssetsFlag(),
		),
		Action: onBuild(storage.WorkerRole, func(c *cli.Context) error {
			if c.Int("jobs") < 0 || c.Int("max-deliver") < 1 || c.Duration("ack-wait") < time.Second {
				return tool.Usagef("--jobs, --max-deliver or --ack-wait is too small, want at least 0, 1 and 1s")
			}
			return nil
		}, farmWork),
	}
}

func farmWork(c *cli.Context, conn *storage.Conn, build string) error {
	ctx, stop := tool.Interruptible(c)
	defer stop()
	game, err := gameOfBuild(c, conn, build)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	return farm.Work(ctx, conn, farm.WorkerOptions{
		Build: build, Name: c.String("name"), Jobs: c.Int("jobs"), MaxTicks: lockstep.Tick(c.Uint("max-ticks")), MaxDeliver: c.Int("max-deliver"),
		AckWait: c.Duration("ack-wait"), Temp: c.String("temp"), UntilEmpty: c.Bool("until-empty"),
		Game: game,
		Done: func(r farm.Result) {
			mu.Lock()
			defer mu.Unlock()
			printResult(c, r)
		},
		Log: slog.New(slog.NewTextHandler(c.App.ErrWriter, nil)),
	})
}

func printResult(c *cli.Context, r farm.Result) error {
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(r)
	}
	_, err := fmt.Fprintln(c.App.Writer, r)
	return err
}

func farmWatchCommand() *cli.Command {
	return &cli.Command{
		Name:  "watch",
		Usage: "show the farm's progress on a build until no jobs are left",
		Description: `Prints a line at once and then every --every: results and all jobs, jobs in work, results
per second, the remaining time at this rate, and the results by class.`,
		Flags: buildFlags(
			&cli.DurationFlag{Name: "every", Value: 2 * time.Second, Usage: "print a line every `TIME`"},
			&cli.BoolFlag{Name: "once", Usage: "print one line"},
		),
		Action: onBuild(storage.OperatorRole, func(c *cli.Context) error {
			if every := c.Duration("every"); every < 100*time.Millisecond {
				return tool.Usagef("--every: got %v, want at least 100ms", every)
			}
			return nil
		}, farmWatch),
	}
}

var errOnce = errors.New("one line is enough")

func farmWatch(c *cli.Context, conn *storage.Conn, build string) error {
	ctx, stop := tool.Interruptible(c)
	defer stop()
	err := farm.Watch(ctx, conn, build, c.Duration("every"), func(p farm.Progress) (err error) {
		if c.Bool("json") {
			err = json.NewEncoder(c.App.Writer).Encode(p)
		} else {
			left := "unknown"
			if p.PerSecond > 0 || p.Left == 0 {
				left = time.Duration(p.Remaining * float64(time.Second)).Round(time.Second).String()
			}
			_, err = fmt.Fprintf(c.App.Writer, "%d of %d, %d in work, %.1f/s, %s left: %s\n", p.Done, p.Done+p.Left, p.Working, p.PerSecond, left, classes(p.Classes))
		}
		if err == nil && c.Bool("once") {
			err = errOnce
		}
		return err
	})
	if errors.Is(err, errOnce) || ctx.Err() != nil {
		return nil
	}
	return err
}

// classes returns the numbers of results by class, such as "3 desync, 97 ok".
func classes(n map[replay.Class]int) string {
	if len(n) == 0 {
		return "no results"
	}
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%d %s", n[class], class))
	}
	return strings.Join(parts, ", ")
}

func farmResultsCommand() *cli.Command {
	return &cli.Command{
		Name:  "results",
		Usage: "print what the farm has found with a build",
		Description: `Prints a line for each file, with --json a line of JSON, in the order in which they
were verified. The exit code is that of the worst, as for replay verify FOLDER.`,
		Flags:  buildFlags(&cli.BoolFlag{Name: "bad", Usage: "leave out files that are ok"}),
		Action: onBuild(storage.OperatorRole, nil, farmResults),
	}
}

// badness orders classes: later ones are worse.
var badness = []replay.Class{
	replay.ClassOK, replay.ClassSuspended, replay.ClassUnsupported, replay.ClassIdentity, farm.ClassMissing, farm.ClassFailed, farm.ClassPoison,
	replay.ClassTorn, replay.ClassLimit, replay.ClassInvalid, replay.ClassCorrupt, replay.ClassDesync,
}

func farmResults(c *cli.Context, conn *storage.Conn, build string) error {
	n, worst := map[replay.Class]int{}, replay.ClassOK
	all := 0
	for r, err := range farm.Results(c.Context, conn, build) {
		if err != nil {
			return err
		}
		all++
		n[r.Class]++
		if slices.Index(badness, r.Class) > slices.Index(badness, worst) {
			worst = r.Class
		}
		if r.Class == replay.ClassOK && c.Bool("bad") {
			continue
		}
		if err := printResult(c, r); err != nil {
			return err
		}
	}
	if !c.Bool("json") {
		if _, err := fmt.Fprintf(c.App.Writer, "%s: %s\n", words.Count(all, "file"), classes(n)); err != nil {
			return err
		}
	}
	if worst != replay.ClassOK {
		return &tool.ClassError{Class: worst, Text: fmt.Sprintf("%d of %s bad; the worst is %s", all-n[replay.ClassOK], words.Plural(all, "file", "is", "are"), worst)}
	}
	return nil
}

func farmForgetCommand() *cli.Command {
	return &cli.Command{
		Name:  "forget",
		Usage: "remove the results of a build, and its jobs",
		Description: `Removes what the farm has found with the build of --build, and its jobs in the queue.
The replays stay. Stop the build's workers before: one that is at work stores its result
later. The same build can be submitted again after an hour.`,
		Flags: buildFlags(),
		Action: onBuild(storage.OperatorRole, func(c *cli.Context) error {
			if !c.IsSet("build") {
				return tool.Usagef("want --build NAME, whose results are removed")
			}
			return nil
		}, farmForget),
	}
}

func farmForget(c *cli.Context, conn *storage.Conn, build string) error {
	results, jobs, err := farm.Forget(c.Context, conn, build)
	return tool.Tell(c, struct {
		Build   string `json:"build"`
		Results int    `json:"results"`
		Jobs    int    `json:"jobs"`
	}{build, results, jobs}, func(w io.Writer) {
		fmt.Fprintf(w, "build %s: removed %s and %s\n", build, words.Count(results, "result"), words.Count(jobs, "job"))
	}, err)
}

// rulesOf returns the module of --rules and its sum, or nothing without the flag.
func rulesOf(c *cli.Context) (module []byte, sum string, err error) {
	if !c.IsSet("rules") {
		return nil, "", nil
	}
	if module, err = os.ReadFile(c.String("rules")); err != nil {
		return nil, "", err
	}
	if _, err := tool.ModuleGames(c, module); err != nil {
		return nil, "", fmt.Errorf("%s: %w", c.String("rules"), err)
	}
	of := sha256.Sum256(module)
	return module, hex.EncodeToString(of[:]), nil
}

// storeRules stores a module, unless the storage has it. It replaces other bytes of its name.
func storeRules(ctx context.Context, conn *storage.Conn, module []byte, sum string) error {
	store, name := objects.New(conn), "rules/"+sum+".wasm"
	want, err := objects.SumOf(bytes.NewReader(module))
	if err != nil {
		return err
	}
	got, err := store.Sum(ctx, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && got != want {
		return store.Write(ctx, name, module)
	}
	return err
}

// gameOfBuild returns the games of a worker: those of the module whose sum the build is, or else those of the program.
func gameOfBuild(c *cli.Context, conn *storage.Conn, build string) (func(*replay.File) (*lockstep.Game, error), error) {
	if b, err := hex.DecodeString(build); err != nil || len(b) != sha256.Size {
		return func(f *replay.File) (*lockstep.Game, error) { return tool.GameOf(c, f) }, nil
	}
	f, err := objects.New(conn).Open(c.Context, "rules/"+build+".wasm")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &tool.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("the storage has no module %s: farm submit --rules FILE stores it", build)}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	module, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(module); hex.EncodeToString(sum[:]) != build {
		return nil, &tool.ClassError{Class: replay.ClassCorrupt, Text: fmt.Sprintf("the module %s in the storage has other bytes: farm submit --rules FILE replaces it", build)}
	}
	return tool.ModuleGames(c, module)
}

func buildOf(c *cli.Context) (string, error) {
	if c.IsSet("build") {
		return c.String("build"), nil
	}
	settings := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	if settings["vcs.modified"] == "false" && settings["vcs.revision"] != "" {
		return settings["vcs.revision"], nil
	}
	name, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w; want --build", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("%w; want --build", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "program-" + hex.EncodeToString(h.Sum(nil))[:16], nil
}

// buildFlags returns the flags of a verb about a build: its own, and those that all have.
func buildFlags(own ...cli.Flag) []cli.Flag {
	build := &cli.StringFlag{Name: "build", Usage: "`NAME` of the rules in the farm", DefaultText: "the revision of the program's sources, or the hash of the program if they were changed"}
	return slices.Concat([]cli.Flag{build, tool.JSONFlag()}, own, connectionFlags(localStorage))
}

// onBuild makes the action of such a verb, with a connection to the storage. check, which may be nil, looks at the flags before.
func onBuild(role storage.Role, check func(*cli.Context) error, act func(c *cli.Context, conn *storage.Conn, build string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if check != nil {
			if err := check(c); err != nil {
				return err
			}
		}
		build, err := buildOf(c)
		if err != nil {
			return err
		}
		return connected(c, role, func(conn *storage.Conn) error { return act(c, conn, build) })
	}
}
