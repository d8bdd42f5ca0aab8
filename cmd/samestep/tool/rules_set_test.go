//go:build !js

package tool

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A game that is named is not the first of several modules in a folder, by chance.
func TestSeveralModulesOfGame(t *testing.T) {
	tooltest.InEmptyCache(t)
	one, _ := tooltest.Pebbles(t)
	t.Chdir(t.TempDir())
	two := bytes.Replace(one, []byte(`"build":"1"`), []byte(`"build":"2"`), 1)
	if bytes.Equal(one, two) {
		t.Fatal("the description has no build 1")
	}
	for name, b := range map[string][]byte{"store/a.wasm": one, "store/b.wasm": two, "same/a.wasm": one, "same/b.wasm": one, "other/b.wasm": two} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, b, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	refused := []string{
		"game pebbles: the folder store has 2 modules of it; choose one with --rules FILE:\n",
		"  " + filepath.Join("store", "a.wasm") + ": build 1, SHA-256 " + tooltest.SumOf(one) + "\n",
		"  " + filepath.Join("store", "b.wasm") + ": build 2, SHA-256 " + tooltest.SumOf(two) + "\n",
	}
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"serve --check-config --game pebbles --rules store", console.ExitUsage, refused},
		{"fuzz --matches 1 --game pebbles --rules store", console.ExitUsage, refused},
		{"fuzz --matches 1 --ticks 20 --game pebbles --rules other --rules store", console.ExitOK, nil},
		{"serve --check-config --game pebbles --rules same", console.ExitOK, []string{"ok\n"}},
		{"serve --check-config --game pebbles --rules store --rules " + filepath.Join("store", "b.wasm"), console.ExitOK, []string{"ok\n"}},
		{"serve --dir= --set web=false --listen 192.0.2.1:1 --game pebbles --rules other", console.ExitError, []string{"listen tcp"}}, // after it has its game
		{"serve --check-config --rules store", console.ExitOK, []string{"ok\n"}},
		{"serve --check-config --rules=", console.ExitUsage, []string{"--rules: got an empty name, want FILE or FOLDER"}},
	} {
		var out bytes.Buffer
		code := tooltest.Run(t.Context(), append([]string{"samestep"}, strings.Fields(c.args)...), &out, &out)
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: got %s, want %s", c.args, &out, want)
			}
		}
		if code != c.code {
			t.Errorf("%s: got exit code %d and %s, want %d", c.args, code, &out, c.code)
		}
	}
}

// A variable that is set but empty is as one that is not set, for flags with lists.
func TestEmptyVariables(t *testing.T) {
	tooltest.InEmptyCache(t)
	for name, want := range map[string]int{"": console.ExitOK, "no such file": console.ExitError} {
		t.Setenv("SAMESTEP_RULES", name)
		for _, v := range []string{"SAMESTEP_TRUSTED_PROXY", "SAMESTEP_SEAT", "SAMESTEP_ORIGIN", "SAMESTEP_PLAYER_TOKENS"} {
			t.Setenv(v, "")
		}
		for _, args := range [][]string{{"samestep", "serve", "--check-config"}, {"samestep", "fuzz", "--matches", "1", "--ticks", "1", "--allow-thin", "a small test"}} {
			var out bytes.Buffer
			if code := tooltest.Run(t.Context(), args, &out, &out); code != want {
				t.Errorf("%q: %q: got exit code %d and %s, want %d", name, args, code, &out, want)
			}
		}
	}
}
