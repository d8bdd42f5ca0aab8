//go:build !js

package tool

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeWord is the first argument with which the script of a shell asks for the next word.
const completeWord = "__complete"

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

func completionCommand() *cli.Command {
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
				return usagef("unknown shell %q, want bash, zsh or fish", c.Args().First())
			}
			name := regexp.MustCompile(`\W`).ReplaceAllString(c.App.Name, "_")
			_, err := io.WriteString(c.App.Writer, strings.NewReplacer("FUNCTION", name, "PROGRAM", c.App.Name).Replace(script))
			return err
		},
	}
}

// complete prints the words that can stand in place of the last of args, one a line: verbs, or flags after a dash. It prints
// nothing where a file or a value stands, which the shell completes itself.
func complete(w io.Writer, app *cli.App, args []string) error {
	if len(args) == 0 {
		args = []string{""}
	}
	before, last := args[:len(args)-1], args[len(args)-1]
	commands, flags := app.Commands, app.Flags
	for _, word := range before {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		if i < 0 {
			continue
		}
		commands, flags = commands[i].Subcommands, commands[i].Flags
	}
	var words []string
	if strings.HasPrefix(last, "-") {
		words = flagWords(flags)
	} else if n := len(before); n == 0 || before[n-1] == "" || before[n-1][0] != '-' {
		for _, c := range commands {
			words = append(words, c.Name)
		}
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

// flagWords returns the flags as they are written.
func flagWords(flags []cli.Flag) (words []string) {
	for _, f := range flags {
		words = append(words, "--"+f.Names()[0])
	}
	return append(words, "--help", "--"+versionFlag.Name)
}
