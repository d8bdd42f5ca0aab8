package commands

import (
	"fmt"
	"regexp"
	"strings"
)

// ways are how a row's command is run: it ends with an exit code, runs until it is interrupted, is printed by a message, or is not run.
var ways = regexp.MustCompile(`^(exit \d(, (stock|game))?|(serves|joins)(, (stock|game))?|(printed, )?not run: .+|printed: .+)$`)

// ReadRows returns how each command of a list is run, and the commands in their order. A line in brackets says so for the lines below it.
func ReadRows(text string) (how map[string]string, order []string, err error) {
	how = map[string]string{}
	head := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			if head = strings.Trim(line, "[]"); !ways.MatchString(head) {
				return nil, nil, fmt.Errorf("unknown way to run a command: %s", line)
			}
		case head == "" || how[line] != "":
			return nil, nil, fmt.Errorf("%s: it stands before a way to run it, or twice", line)
		default:
			how[line] = head
			order = append(order, line)
		}
	}
	return how, order, nil
}

// Printed reports whether a row is of a message's command, and not of a document's.
func Printed(how string) bool { return strings.HasPrefix(how, "printed") }
