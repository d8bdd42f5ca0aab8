package script

import (
	"fmt"
	"testing"
)

func TestRun(t *testing.T) {
	Run(t, "testdata/*.txt", func(*testing.T) Interpreter {
		sum := uint64(0)
		return func(s *Step) string {
			switch s.Verb {
			case "add":
				sum += s.Uint("n", 8)
				return ""
			case "sum":
				return fmt.Sprint(s.String("title", "sum"), " ", sum+s.UintOr("more", 8, 0))
			}
			return "unknown verb " + s.Verb
		}
	})
}

func TestStepErrors(t *testing.T) {
	for name, line := range map[string]string{
		"missing":      "add",
		"no number":    "add n=x",
		"out of range": "add n=256",
		"never asked":  "add n=1 m=2",
		"not a number": "add n",
		"two values":   "add n=(1, 2)",
		"bad escape":   `add n=\x`,
	} {
		s, err := parseStep(line)
		if err != nil {
			t.Fatal(err)
		}
		s.Uint("n", 8)
		if s.check() == nil {
			t.Errorf("%s: %q is accepted", name, line)
		}
	}
	if _, err := parseStep("say text=(open"); err == nil {
		t.Error("an open parenthesis is accepted")
	}
}
