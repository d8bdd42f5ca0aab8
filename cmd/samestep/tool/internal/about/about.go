//go:build !js

// Package about has the verbs about the program itself: version, completion and man, and new, which begins another one.
package about

import (
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// VersionCommand returns the verb version.
func VersionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the build of the program, its formats, and the rules of its games",
		Description: `Two programs can play one match if their engine, their game and its build are the
same. A replay needs a program with its game and build.`,
		Flags: []cli.Flag{console.JSONFlag},
		Action: func(c *cli.Context) error {
			v := newVersions(c.App.Name, gameset.Listed(c))
			return gameset.Tell(c, v, v.print, nil)
		},
	}
}

// versions are the numbers of a program.
type versions struct {
	Program  string        `json:"program"`
	Version  string        `json:"version"`            // of the module, or (devel)
	Revision string        `json:"revision,omitempty"` // of the sources, with +modified if they were changed
	Time     string        `json:"time,omitempty"`     // of the revision
	Go       string        `json:"go"`
	Platform string        `json:"platform"`
	Replay   uint16        `json:"replay"`  // version of replay files
	Bundle   uint16        `json:"bundle"`  // format of desync bundles
	Records  uint32        `json:"records"` // protocol of a log's records
	Messages []string      `json:"messages"`
	Engine   string        `json:"engine"`
	Games    []gameVersion `json:"games"`
}

// A gameVersion is the identity of a game's rules.
type gameVersion struct {
	Game   string `json:"game"`
	Build  string `json:"build"`
	Schema string `json:"state_schema"` // its hash, as in errors of identity
}

func newVersions(program string, games gameset.List) *versions {
	v := &versions{
		Program: program, Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Replay: replay.Version, Bundle: replay.BundleVersion, Records: record.Protocol,
		Messages: []string{server.Subprotocol}, Engine: record.Engine,
	}
	for _, g := range games {
		v.Games = append(v.Games, gameVersion{g.Name(), g.Build(), checksum.FormatHash(xxhash.Sum64(g.StateSchema().AppendDescription(nil)))})
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.addBuild(info)
	}
	return v
}

// addBuild adds what the go command has written into the program.
func (v *versions) addBuild(info *debug.BuildInfo) {
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	modified := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified {
		v.Revision += "+modified"
	}
}

func (v *versions) print(w io.Writer) {
	line := console.NewLiner(w)
	line("program", "%s %s, %s, %s", v.Program, v.Version, v.Go, v.Platform)
	if v.Revision != "" {
		line("sources", "%s of %s", v.Revision, v.Time)
	}
	line("formats", "replay %d, bundle %d, records %d, messages %s", v.Replay, v.Bundle, v.Records,
		strings.Join(v.Messages, " "))
	line("engine", "%s", v.Engine)
	for _, g := range v.Games {
		line("game", "%q, build %q, state schema %s", g.Game, g.Build, g.Schema)
	}
}

// CompleteWord is the first argument with which the script of a shell asks for the next word.
const CompleteWord = "__complete"

// completions are the scripts of shells; PROGRAM and FUNCTION are replaced.
var completions = map[string]string{
	"bash": `_FUNCTION() {
	local IFS=$'\n'
	COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _FUNCTION PROGRAM
`,
	"zsh": `#compdef PROGRAM
_FUNCTION() {
	local -a found
	found=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n "${found[1]}" ]]; then
		compadd -a found
	else
		_files
	fi
}
compdef _FUNCTION PROGRAM
`,
	"fish": `complete -c PROGRAM -a '(PROGRAM __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

// CompletionCommand returns the verb completion.
func CompletionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the script with which a shell completes verbs and flags",
		ArgsUsage: "bash|zsh|fish",
		Description: `For this shell:  source <(samestep completion bash)
For all shells:  samestep completion bash > /etc/bash_completion.d/samestep
                 samestep completion zsh > "${fpath[1]}/_samestep"
                 samestep completion fish > ~/.config/fish/completions/samestep.fish`,
		Action: func(c *cli.Context) error {
			script, ok := completions[c.Args().First()]
			if !ok {
				return console.Usagef("unknown shell %q, want bash, zsh or fish", c.Args().First())
			}
			name := regexp.MustCompile(`\W`).ReplaceAllString(c.App.Name, "_")
			_, err := io.WriteString(c.App.Writer, strings.NewReplacer("FUNCTION", name, "PROGRAM", c.App.Name).Replace(script))
			return err
		},
	}
}

// Complete prints the words that can replace the last of args, one a line. It prints nothing for files, which the shell completes itself.
func Complete(w io.Writer, app *cli.App, args []string) error {
	if len(args) == 0 {
		args = []string{""}
	}
	before, last := args[:len(args)-1], args[len(args)-1]
	verb := &cli.Command{Subcommands: app.Commands, Flags: app.Flags}
	for _, word := range before {
		if i := slices.IndexFunc(verb.Subcommands, func(c *cli.Command) bool { return c.HasName(word) }); i >= 0 {
			verb = verb.Subcommands[i]
		}
	}
	if last == "=" { // bash gives it as a word
		before, last = args, ""
	}
	flag := ""
	if n := len(before); n > 1 && before[n-1] == "=" {
		flag = before[n-2]
	} else if n > 0 {
		flag = before[n-1]
	}
	key, _, pair := strings.Cut(last, "=")
	var words []string
	switch {
	case pair && flag == "--"+console.SetFlag.Name:
		for _, value := range valuesFor(app, verb, key, before) {
			words = append(words, key+"="+value)
		}
	case strings.HasPrefix(last, "-"):
		words = FlagWords(verb.Flags)
	case console.TakesValue(verb.Flags, flag):
		words = valuesFor(app, verb, strings.TrimLeft(flag, "-"), before)
	case !strings.HasPrefix(flag, "-"):
		words = console.CommandNames(verb.Subcommands)
	}
	for _, word := range words {
		if strings.HasPrefix(word, last) {
			if _, err := fmt.Fprintln(w, word); err != nil {
				return err
			}
		}
	}
	return nil
}

// valuesFor returns the values of a flag or key if they are few; those of a game are of the game that the words name, or else of the first.
func valuesFor(app *cli.App, verb *cli.Command, name string, words []string) (values []string) {
	list := app.Metadata[gameset.GamesKey].(gameset.List)
	game, names := list[0], []string(nil)
	for _, g := range list {
		if names = append(names, g.Name()); slices.Contains(words, g.Name()) {
			game = g
		}
	}
	switch {
	case name == gameset.GameFlag.Name:
		return slices.Compact(names)
	case name == gameset.BotFlag.Name && verb.Name == "join":
		return []string{"default", "none"}
	case name == gameset.BotFlag.Name:
		return gameset.ChoiceNames(game.Opponents)
	case name == gameset.ScenarioFlag.Name:
		return gameset.ChoiceNames(game.Scenarios)
	case name == console.SetFlag.Name:
		for _, s := range console.SettingsIn(verb.Flags) {
			if s.Where != console.AsCommand {
				values = append(values, s.Name()+"=")
			}
		}
		return values
	}
	s := console.SettingOf(serving.ServeFlags(serving.Extension{}), name) // flags of other verbs, such as --durability, mean the same
	if own := console.SettingOf(verb.Flags, name); own != nil {
		s = own
	}
	switch {
	case s == nil:
		return nil
	case console.IsBool(s):
		return []string{"true", "false"}
	}
	return s.Words
}

// FlagWords returns the flags as they are written.
func FlagWords(flags []cli.Flag) (words []string) {
	for _, f := range flags {
		if s, ok := f.(*console.Setting); !ok || s.Where != console.InFile {
			words = append(words, "--"+f.Names()[0])
		}
	}
	return append(words, "--help", "--"+console.VersionFlag.Name)
}

// ManCommand returns the verb man.
func ManCommand() *cli.Command {
	return &cli.Command{
		Name:  "man",
		Usage: "print the manual page, in the form of man",
		Description: `To read it:     samestep man | man -l -
To install it:  samestep man > /usr/local/share/man/man1/samestep.1`,
		Action: func(c *cli.Context) error { return writeMan(c.App.Writer, c.App) },
	}
}

// writeMan writes the manual page of a program: the help of all its verbs.
func writeMan(w io.Writer, app *cli.App) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(app.Name)), roff(app.Name), roff(app.Usage))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.I verb\n[flags] [arguments]\n", roff(app.Name))
	b.WriteString(".SH VERBS\n")
	manCommands(&b, app.Name, app.Commands)
	fmt.Fprintf(&b, ".SH EXIT STATUS\n.nf\n%s.fi\n", roff(strings.TrimPrefix(console.ExitTable, "Exit codes:\n")+"\n"))
	_, err := io.WriteString(w, b.String())
	return err
}

// manCommands writes a section for each verb that is not a group of others.
func manCommands(b *strings.Builder, parent string, commands []*cli.Command) {
	for _, c := range commands {
		name := parent + " " + c.Name
		if c.Name == "help" {
			continue
		}
		if len(c.Subcommands) > 1 { // one is the library's help
			manCommands(b, name, c.Subcommands)
			continue
		}
		fmt.Fprintf(b, ".SS %s\n%s\n", roff(strings.TrimSpace(name+" "+c.ArgsUsage)), roff(c.Usage))
		if c.Description != "" {
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(c.Description))
		}
		for _, f := range c.VisibleFlags() {
			flag, text := console.FlagText(f)
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(flag), roff(text))
		}
		if keys := console.SettingsIn(c.Flags); len(keys) > 0 {
			fmt.Fprintf(b, ".PP\nKeys of the file of %s alone:\n", roff("--"+console.SettingsFlag.Name))
			for _, s := range keys {
				if s.Where == console.InFile {
					fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(s.Name()), roff(s.Meaning()))
				}
			}
		}
	}
}

// roff escapes what the typesetter of man would read as its own.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
