// Package loglines checks the logs of servers and mirrors: each line about a match names it and its id, and each line about a connection
// to it names the session.
package loglines

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	matchWord   = regexp.MustCompile(` match=\S`)
	idWord      = regexp.MustCompile(` id=[0-9a-f]{32}( |$)`)
	sessionWord = regexp.MustCompile(` session=[0-9a-f]{16}( |$)`)
	peerWord    = regexp.MustCompile(` peer=[1-9]`)
	aboutMatch  = regexp.MustCompile(`/matches/[\w.-]|/live/[\w.-]+\.ssr| tick=`)
)

// noID are lines about a match that has no id, or none that the server can know: it could not be created, its log not be read or its
// upstream not be reached, or there is none of that name. Of an admin's call, the status says so.
var noID = regexp.MustCompile(` msg=creation |msg="match not (resumed|created)"|msg="match cannot be resumed"|msg="nobody can take a seat|msg="match is over"|msg=mirror |msg="mirror: (upstream|keyframe|refused)"| status=[45][0-9][0-9] `)

// byHTTP are lines that name a session's address, but are about a call over HTTP, which has no session.
var byHTTP = regexp.MustCompile(` msg=admin `)

// Problems returns what is wrong with the lines of a log, as package log/slog writes them as text.
func Problems(log string) (all []string) {
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		named := matchWord.MatchString(line)
		switch {
		case !strings.Contains(line, " level="): // of another program, or a trace of the stack
		case !named && aboutMatch.MatchString(line):
			all = append(all, fmt.Sprintf("is about a match and does not name it: %s", line))
		case named && !idWord.MatchString(line) && !noID.MatchString(line):
			all = append(all, fmt.Sprintf("has no id of its match: %s", line))
		case named && !byHTTP.MatchString(line) && (peerWord.MatchString(line) || strings.Contains(line, " address=")) && !sessionWord.MatchString(line):
			all = append(all, fmt.Sprintf("is about a connection and has no session: %s", line))
		}
	}
	return all
}
