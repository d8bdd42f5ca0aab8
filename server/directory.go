package server

import (
	"context"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// nobodyFits and notListed say that a ban or a revocation has ended nothing.
const (
	nobodyFits = "nobody who is connected or has a seat fits; it holds for those who come"
	notListed  = "nobody who is connected or has a seat fits; it holds for those who come; no listed token has this subject"
)

// A directory is an [Authorizer] that can list its grants.
type directory interface {
	// lookUp reports whether a token that is valid in a match has a text as its subject, and returns the least subject of those that
	// have it as their name, or "". An empty match means any.
	lookUp(text, match string) (subject bool, named string)
}

func (t *Tokens) lookUp(text, match string) (subject bool, named string) {
	for _, g := range t.list.Load().grants {
		if match != "" && g.match != "" && g.match != match {
			continue
		}
		subject = subject || g.Subject == text
		if g.Name == text && (named == "" || g.Subject < named) {
			named = g.Subject
		}
	}
	return subject, named
}

func (a anyOf) lookUp(text, match string) (subject bool, named string) {
	for _, each := range a {
		if d, ok := each.(directory); ok {
			has, of := d.lookUp(text, match)
			subject = subject || has
			if named == "" {
				named = of
			}
		}
	}
	return subject, named
}

// listed reports whether the operator has a list of tokens, and what it has of a text.
func (ac *access) listed(text, match string) (subject bool, named string, ok bool) {
	d, ok := ac.authorizer.(directory)
	if ok {
		subject, named = d.lookUp(text, match)
	}
	return subject, named, ok
}

// whyNobody says why a ban or a revocation of a subject has ended nothing. connected is the subject of a connection with that name, or
// "". An empty subject means that none was given.
func (ac *access) whyNobody(subject, match, connected string) string {
	if subject == "" {
		return nobodyFits
	}
	has, named, ok := ac.listed(subject, match)
	switch {
	case has:
		return nobodyFits
	case connected != "":
		return fmt.Sprintf(onlyName, subject, connected)
	case named != "":
		return fmt.Sprintf(onlyName, subject, named)
	case ok:
		return notListed
	}
	return nobodyFits
}

// onlyName says that a subject is none, but a name.
const onlyName = "nobody who is connected has the subject %q; it is the name of %q"

// connectedAs returns the subject of a connection with a name in any match, or "".
func (reg *registry) connectedAs(ctx context.Context, name string) (subject string) {
	for _, m := range reg.running() {
		if subject == "" && name != "" {
			_ = m.Do(ctx, func(h *host.Host) { subject = subjectNamed(h, m.now(), name) }) // a match that is over has nobody
		}
	}
	return subject
}

// subjectNamed returns the subject of a connection with a name, or "".
func subjectNamed(h *host.Host, now lockstep.Time, name string) string {
	for _, c := range h.Info().Connections(now) {
		if name != "" && c.Name == name {
			return c.Subject
		}
	}
	return ""
}
