//go:build !js

package about

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/urfave/cli/v2"
)

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

// Complete prints the words that can stand in place of the last of args, one a line: verbs, flags after a dash, and the values of flags
// that have few. It prints nothing where a file or another value stands, which the shell completes itself.
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

// valuesFor returns the values of a flag or a key of a verb, if they are few. Those that depend on the game are of the one that the words
// name, or else of the program's first.
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
