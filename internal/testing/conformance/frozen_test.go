package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/frozen"
)

// The cases stay as the first release has them. Later ones are appended.
func TestFrozen(t *testing.T) {
	var rows []string
	for _, c := range suite(t).Cases {
		b, err := readCase(c.File)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, caseRow(t, &c, b))
	}
	frozen.Check(t, "../../../testdata/frozen/cases.txt", rows)
}

// caseRow returns what stays of a case: not its sentence, and not the rules that it shows.
func caseRow(t *testing.T, c *Case, file []byte) string {
	if c.Kind == "transcript" {
		file = withoutTexts(t, file)
	}
	expect, err := json.Marshal(c.Expect)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("case %s: %s %s, expect %.8x, file %x", c.ID, c.Kind, c.Verdict, sha256.Sum256(expect), sha256.Sum256(file))
}

// withoutTexts returns a transcript without the texts for people that a server says, with the bytes of those messages. They may get better.
func withoutTexts(t *testing.T, file []byte) []byte {
	var x struct {
		About                 string           `json:"about"`
		Steps                 []map[string]any `json:"steps"`
		Match, Host           json.RawMessage
		Tokens, Client, Plays json.RawMessage
		Format                int
		EndsMS                int64 `json:"ends_ms"`
	}
	if err := json.Unmarshal(file, &x); err != nil {
		t.Fatal(err)
	}
	x.About = ""
	for _, s := range x.Steps {
		says, _ := s["says"].([]any)
		for _, m := range says {
			if m, ok := m.(map[string]any); ok && s["from"] == "server" && (m["detail"] != nil || m["text"] != nil) {
				delete(m, "detail")
				delete(m, "text")
				delete(s, "hex")
			}
		}
	}
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Another file or expectation is another row, and another text of a server is none.
func TestFrozenControl(t *testing.T) {
	c := Case{ID: "a", Kind: "record", Verdict: "ok", Expect: map[string]any{"tick": 1}}
	want := caseRow(t, &c, []byte{1})
	other := c
	other.Expect = map[string]any{"tick": 2}
	if caseRow(t, &c, []byte{2}) == want || caseRow(t, &other, []byte{1}) == want {
		t.Error("a changed case has the same row")
	}
	c.Kind = "transcript"
	session, err := readCase("transcript/session-reject-malformed.json")
	if err != nil {
		t.Fatal(err)
	}
	want = caseRow(t, &c, session)
	for _, x := range []struct {
		old, text string
		same      bool
	}{
		{"unexpected EOF", "the end is missing", true}, {`"reason":8`, `"reason":7`, false}, {`"at_ms":250`, `"at_ms":251`, false}, {`"payload":"01"`, `"payload":"02"`, false},
	} {
		changed := bytes.ReplaceAll(session, []byte(x.old), []byte(x.text))
		if bytes.Equal(changed, session) || (caseRow(t, &c, changed) == want) != x.same {
			t.Errorf("%s → %s: want the same row %v", x.old, x.text, x.same)
		}
	}
}
