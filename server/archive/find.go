//go:build !js

package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/server"
)

// maxExamined is the number of entries that one search looks at. The next search goes on behind them.
const maxExamined = 2000

// find walks the places of the rarest word of the query backwards.
func find(ctx context.Context, tx *bolt.Tx, q *server.ArchiveQuery) (found []server.Archived, next string, err error) {
	found = []server.Archived{}
	bucket, prefix := byEnd, []byte(nil)
	switch {
	case q.Subject != "":
		bucket, prefix = bySubject, under(q.Subject)
	case q.Player != "":
		bucket, prefix = byPlayer, under(playerWord(q.Player))
	}
	end := slices.Concat(prefix, bytes.Repeat([]byte{0xff}, 8)) // behind all places
	if !q.Until.IsZero() {
		end = slices.Concat(prefix, (&entry{Archived: server.Archived{Ended: q.Until}}).place())
	}
	if q.After != "" {
		last, err := after(tx, q.After)
		if err != nil {
			return nil, "", err
		}
		if place := slices.Concat(prefix, last); bytes.Compare(place, end) < 0 {
			end = place
		}
	}
	c := tx.Bucket(bucket).Cursor()
	key := before(c, end)
	for n := 0; key != nil && bytes.HasPrefix(key, prefix); n++ {
		e, err := load(tx, placeName(key[len(prefix):]))
		if err != nil {
			return nil, "", err
		}
		if e != nil {
			if e.Ended.Before(q.Since) {
				break // all others are older
			}
			if matches(e, q) {
				found = append(found, e.archived())
			}
			if len(found) == server.MaxListed || n == maxExamined || ctx.Err() != nil {
				next = server.Cursor(e.Name, e.Ended)
				break
			}
		}
		key, _ = c.Prev()
	}
	return found, next, ctx.Err()
}

// after returns the place of a [server.Cursor], or of the file with a name.
func after(tx *bolt.Tx, text string) ([]byte, error) {
	if name, ended, ok := server.ParseCursor(text); ok {
		return (&entry{Archived: server.Archived{Name: name, Ended: ended}}).place(), nil
	}
	e, err := load(tx, text)
	if err == nil && e == nil {
		err = fmt.Errorf("%w: after: the archive has no %q", server.ErrQuery, text)
	}
	if err != nil {
		return nil, err
	}
	return e.place(), nil
}

// before moves a cursor to the last key that is smaller than end.
func before(c *bolt.Cursor, end []byte) []byte {
	if key, _ := c.Seek(end); key == nil {
		key, _ = c.Last()
		return key
	}
	key, _ := c.Prev()
	return key
}

// matches reports whether an entry is wanted.
func matches(e *entry, q *server.ArchiveQuery) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	if e.Kind != q.Kind || !same(q.Match, e.Match) || !same(q.Game, e.Game) || !same(q.Build, e.Build) || !hasResult(e, q.Result) {
		return false
	}
	if q.Player != "" && !slices.ContainsFunc(e.Players, func(p server.ArchivedPlayer) bool { return playerWord(p.Name) == playerWord(q.Player) }) {
		return false
	}
	if !q.Until.IsZero() && !e.Ended.Before(q.Until) {
		return false
	}
	if q.Subject == "" {
		return true
	}
	for _, s := range e.Subjects {
		if s == q.Subject {
			return true
		}
	}
	return false
}

// hasResult reports whether the result of an entry has a value: see [server.ArchiveQuery].
func hasResult(e *entry, want string) bool {
	path, value, isField := strings.Cut(want, ":")
	if !isField || len(e.Result) == 0 {
		return strings.Contains(strings.ToLower(e.Reason), strings.ToLower(want))
	}
	raw := e.Result
	for name := range strings.SplitSeq(path, ".") {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return false
		}
		raw = fields[name]
	}
	var text string
	if json.Unmarshal(raw, &text) != nil { // a number, a bool or nothing
		text = string(raw)
	}
	return len(raw) > 0 && text == value
}
