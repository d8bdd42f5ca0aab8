//go:build !js

package about

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/urfave/cli/v2"
)

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
