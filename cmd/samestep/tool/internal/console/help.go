//go:build !js

package console

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// VersionFlag is for the help: every command line with it is one of the verb version, see [AsksVersion].
var VersionFlag = &cli.BoolFlag{Name: "version", Usage: "print the version of the program, of its formats and of its games"}

// AsksVersion reports whether --version is among the arguments.
func AsksVersion(args []string) bool {
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	return slices.Contains(args, "--"+VersionFlag.Name)
}

// The headings of verbs in the help, in its order.
const (
	ForPlay    = "Play matches"
	ForFiles   = "Look at matches"
	ForGames   = "Write and test a game"
	ForCluster = "Run several servers"
	ForProgram = "About this program"
	ForEngine  = "For developers of the engine only"
)

// InCategory returns verbs with a heading.
func InCategory(name string, verbs ...*cli.Command) []*cli.Command {
	for _, v := range verbs {
		v.Category = name
	}
	return verbs
}

// The library prints each help with the function in a variable.
func init() {
	cli.HelpPrinter = func(w io.Writer, _ string, of any) {
		width := maxHelp
		if IsTerminal(w) {
			width = min(width, TerminalWidth(w))
		}
		io.WriteString(w, helpOf(of, width))
	}
}

// helpOf returns the help of a program or of a verb.
func helpOf(of any, width int) string {
	p := &helpPage{width: width}
	switch x := of.(type) {
	case *cli.App:
		p.section("NAME", x.HelpName+" - "+x.Usage)
		p.section("USAGE", x.HelpName+" [global options] command [command options]")
		p.section("DESCRIPTION", x.Description)
		p.commands(x.Commands)
		p.flags("GLOBAL OPTIONS", x.VisibleFlags())
	case *cli.Command:
		p.section("NAME", x.HelpName+" - "+x.Usage)
		p.section("USAGE", strings.TrimSpace(x.HelpName+" [command options] "+x.ArgsUsage))
		p.section("DESCRIPTION", x.Description)
		p.commands(x.Subcommands)
		p.flags("OPTIONS", x.VisibleFlags())
	}
	return strings.TrimPrefix(p.text.String(), "\n")
}

// A helpPage is the text of a help.
type helpPage struct {
	text  strings.Builder
	width int
}

// section writes lines below a heading, if there are any.
func (p *helpPage) section(name, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(&p.text, "\n%s:\n", name)
	for _, line := range p.reflowed(strings.Split(text, "\n")) {
		words := strings.TrimLeft(line, " ")
		indent := 3 + len(line) - len(words)
		p.wrap(strings.Repeat(" ", indent), indent+hang(words), words)
	}
}

// reflowed joins each paragraph that is too wide for the page. Lists and commands, indented or with several spaces in a row, stay.
func (p *helpPage) reflowed(lines []string) (all []string) {
	for len(lines) > 0 {
		n := max(1, slices.IndexFunc(append(slices.Clone(lines), ""), func(line string) bool {
			return line == "" || line[0] == ' ' || strings.Contains(line, "  ")
		}))
		wide := slices.ContainsFunc(lines[:n], func(line string) bool { return utf8.RuneCountInString(line)+3 > p.width })
		if wide {
			all = append(all, strings.Join(lines[:n], " "))
		} else {
			all = append(all, lines[:n]...)
		}
		lines = lines[n:]
	}
	return all
}

// tabled matches the name of a line such as "0  success".
var tabled = regexp.MustCompile(`^\S.*?  +`)

// hang returns where the lines that go on with a line of a list begin.
func hang(line string) int {
	if n := len(tabled.FindString(line)); n < 20 {
		return n
	}
	return 0
}

// wrap writes a text after the beginning of a line.
func (p *helpPage) wrap(begin string, column int, text string) {
	for _, line := range wrapped(begin, column, text, p.width) {
		fmt.Fprintln(&p.text, line)
	}
}

// A helpTable has names and texts below headings.
type helpTable struct {
	headings []string
	rows     map[string][][2]string
}

// add adds a row below a heading.
func (t *helpTable) add(heading, name, text string) {
	if t.rows == nil {
		t.rows = map[string][][2]string{}
	}
	if t.rows[heading] == nil {
		t.headings = append(t.headings, heading)
	}
	t.rows[heading] = append(t.rows[heading], [2]string{name, text})
}

// table writes a table. A name that is too wide has a line of its own. Rows without a heading are last.
func (p *helpPage) table(t helpTable) {
	column := 6
	for _, rows := range t.rows {
		for _, row := range rows {
			if n := len(row[0]) + 5; n <= p.width/3 && p.width >= 60 {
				column = max(column, n)
			}
		}
	}
	slices.SortStableFunc(t.headings, func(a, b string) int {
		switch {
		case a == "" && b != "":
			return 1
		case b == "" && a != "":
			return -1
		}
		return 0
	})
	for i, heading := range t.headings {
		if i > 0 {
			p.text.WriteString("\n")
		}
		if heading != "" {
			fmt.Fprintf(&p.text, " %s:\n", heading)
		}
		for _, row := range t.rows[heading] {
			begin := fmt.Sprintf("%-*s", column, "   "+row[0])
			if len(row[0])+5 > column {
				p.wrap("   ", column, row[0])
				begin = strings.Repeat(" ", column)
			}
			p.wrap(begin, column, row[1])
		}
	}
}

// commands writes the verbs by category.
func (p *helpPage) commands(all []*cli.Command) {
	if len(all) == 0 || len(all) == 1 && all[0].Name == "help" { // the library's
		return
	}
	p.text.WriteString("\nCOMMANDS:\n")
	var t helpTable
	for _, c := range all {
		category := c.Category
		if c.Name == "help" && len(t.headings) > 1 {
			category = ForProgram
		}
		t.add(category, strings.Join(c.Names(), ", "), c.Usage)
	}
	p.table(t)
}

// manyVariables is how many flags with a variable of the environment are explained once, below the flags.
const manyVariables = 10

// flags writes the flags by category.
func (p *helpPage) flags(name string, all []cli.Flag) {
	variables, such := 0, ""
	for _, f := range all {
		if name := variable.FindString(f.String()); name != "" {
			variables++
			such = cmp.Or(such, strings.Trim(name, " []")+" for --"+f.Names()[0])
		}
	}
	fmt.Fprintf(&p.text, "\n%s:\n", name)
	var t helpTable
	for _, f := range all {
		flag, text := FlagText(f)
		if variables >= manyVariables {
			text = variable.ReplaceAllString(text, "")
		}
		t.add(f.(cli.CategorizableFlag).GetCategory(), flag, text)
	}
	p.table(t)
	if variables >= manyVariables {
		p.text.WriteString("\n")
		p.wrap("   ", 3, "Variables of the environment set flags, too, such as "+such+".")
	}
}

var (
	// repeated matches what the library adds to the name of a list.
	repeated = regexp.MustCompile(` \[ .*? \]$`)

	// variable matches what it adds to the text of a flag with a variable.
	variable = regexp.MustCompile(` \[\$SAMESTEP_\w+\]$`)

	// noDefault matches a default that says nothing.
	noDefault = regexp.MustCompile(` \(default: (false| *)\)`)
)

// FlagText returns a flag as it is written and what the help says of it.
func FlagText(f cli.Flag) (flag, text string) {
	flag, text, _ = strings.Cut(f.String(), "\t")
	return repeated.ReplaceAllString(flag, ""), strings.Join(strings.Fields(noDefault.ReplaceAllString(text, "")), " ")
}
