package lockstep_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// This machine computes what all others do.
func TestSelfTest(t *testing.T) {
	rules := testgame.BankRules()
	rules.SelfTest = func() uint64 { return 77 }
	test := lockstep.MustGame(rules).SelfTest()
	if err := test.Check(); err != nil || test.Game != 77 {
		t.Errorf("got %+v and game %d, want 77", err, test.Game)
	}
	rules.SelfTest = func() uint64 { panic("no numbers") }
	var fault *lockstep.PanicError
	if _, err := lockstep.NewGame(rules); !errors.As(err, &fault) || fault.Where != "SelfTest" {
		t.Errorf("got %v, want a panic in SelfTest", err)
	}
}

// The page of the recipe has the sums.
func TestSelfTestOnPage(t *testing.T) {
	page, err := os.ReadFile("../docs/spec/state.md")
	if err != nil {
		t.Fatal(err)
	}
	known := lockstep.KnownSelfTest()
	for i, p := range known.Parts() {
		if row := fmt.Sprintf("\n| %s | %016x |\n", p.Name, *p.Sum); i < 4 && !strings.Contains(string(page), row) {
			t.Errorf("the page has no row%s", row)
		}
	}
}

// A machine that differs is told in what, by itself and by the other side.
func TestSelfTestDiffers(t *testing.T) {
	game := lockstep.MustGame(testgame.BankRules())
	for name, spoil := range map[string]func(*lockstep.SelfTest){
		"integers":  func(s *lockstep.SelfTest) { s.Integers++ },
		"layout":    func(s *lockstep.SelfTest) { s.Layout++ },
		"checksums": func(s *lockstep.SelfTest) { s.Checksums++ },
		"records":   func(s *lockstep.SelfTest) { s.Records++ },
		"game":      func(s *lockstep.SelfTest) { s.Game++ },
	} {
		test := game.SelfTest()
		spoil(&test)
		switch err := test.Check(); {
		case name == "game" && err != nil:
			t.Errorf("game: got %v, want nothing: only the other side knows", err)
		case name != "game" && (err == nil || !strings.Contains(err.Error(), "self-test of "+name+": got ")):
			t.Errorf("%s: got %v", name, err)
		}
		auth := protocol.NewAuth(game)
		auth.SelfTest = test
		var other *lockstep.IdentityError
		if err := auth.CheckIdentity(protocol.NewAuth(game)); !errors.As(err, &other) || other.Field != "self-test of "+name {
			t.Errorf("%s: got %v, want an identity error", name, err)
		}
	}
}

// A host does not begin a match on a machine that computes otherwise, and refuses
// a client on one.
func TestSelfTestRefuses(t *testing.T) {
	lockstep.SpoilSelfTest(t)
	g, h := testgame.NewBankMatch(t, 2)
	if _, err := host.New(g, h, host.Options{}); err == nil || !strings.Contains(err.Error(), "self-test of layout: ") {
		t.Errorf("got %v, want an error of the layout", err)
	}
}

func BenchmarkNewGame(b *testing.B) {
	for b.Loop() {
		lockstep.MustGame(testgame.BankRules())
	}
}
