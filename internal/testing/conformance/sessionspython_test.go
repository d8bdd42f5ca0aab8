//go:build !js

package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A client in Python that was written from the documents plays the conformance game: it
// sends the messages that the transcripts want of a client.
func TestSessionsInAnotherLanguage(t *testing.T) {
	out, err := playInPython(t, dir)
	if err != nil || !strings.HasPrefix(out, "played ") {
		t.Errorf("%v: %s", err, out)
	}
}

// Control: the test notices another checksum, another command and another identity.
func TestSessionsInAnotherLanguageControl(t *testing.T) {
	for name, change := range map[string]struct{ id, from, to string }{
		"another checksum": {"session-client-play", "942205cf18503ccde4a22488", "942205cf18503ccde4a22489"},
		"another command":  {"session-client-play", "94210101c4020500", "94210101c4020600"},
		"another build":    {"session-client-play", "a7636f6e666f726da131cf", "a7636f6e666f726da132cf"},
		"a close too many": {"session-client-play", `"do":"close"`, `"do":""`},
		"a true datagram":  {"session-fake-datagram-differs", "01010000900103", "01010000900101"},
	} {
		if testenv.Small(t) && name != "another command" && name != "a close too many" { // each is a process
			continue
		}
		x := transcripts(t)[change.id]
		text := string(x.encode())
		if strings.Count(text, change.from) == 0 {
			t.Fatalf("%s: the transcript has no %s", name, change.from)
		}
		to := t.TempDir()
		index := `{"format":1,"cases":[{"id":"x","kind":"transcript","file":"x.json","expect":{"plays":["client"]}}]}`
		for file, text := range map[string]string{"x.json": strings.Replace(text, change.from, change.to, 1), "index.json": index} {
			if err := os.WriteFile(filepath.Join(to, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := playInPython(t, to); err == nil {
			t.Errorf("%s is not noticed: %s", name, out)
		}
	}
}

func playInPython(t *testing.T, folder string) (string, error) {
	t.Helper()
	python, err := exec.LookPath("python3")
	testenv.Or(t, "python3", err)
	out, err := exec.CommandContext(t.Context(), python, "-B", "../../../server/testdata/sessions.py", filepath.Join(folder, "index.json")).CombinedOutput()
	return string(out), err
}
