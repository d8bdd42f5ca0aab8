package testenv

import (
	"errors"
	"flag"
	"fmt"
	"testing"
)

// outcome is a test that records how it was ended.
type outcome struct {
	testing.TB
	text string
}

func (o *outcome) Helper() {}

func (o *outcome) Log(args ...any) { o.text = "logged: " + fmt.Sprint(args...) }

func (o *outcome) Fatalf(format string, args ...any) {
	o.text = "failed: " + fmt.Sprintf(format, args...)
}

func (o *outcome) Skipf(format string, args ...any) {
	o.text = "skipped: " + fmt.Sprintf(format, args...)
}

func TestOr(t *testing.T) {
	missing := errors.New("not found")
	for _, row := range []struct {
		name, variable string
		err            error
		want           string
	}{
		{"present", "", nil, ""},
		{"present and required", "1", nil, ""},
		{"missing", "", missing, "skipped: qemu is missing: not found"},
		{"missing and required", "1", missing, "failed: qemu is missing, and required because SAMESTEP_REQUIRE is set: not found"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv(variable, row.variable)
			var o outcome
			Or(&o, "qemu", row.err)
			if o.text != row.want {
				t.Errorf("got %q, want %q", o.text, row.want)
			}
		})
	}
}

// A long test is skipped, unless everything is required, or -run asks for one that is to be named. One of the night is
// skipped by day, too.
func TestLong(t *testing.T) {
	short := flag.Lookup("test.short")
	was := short.Value.String()
	defer short.Value.Set(was)
	run := flag.Lookup("test.run")
	asked := run.Value.String()
	defer run.Value.Set(asked)
	unnamed := "skipped: long: name it with -run; .ci/run runs it, as SAMESTEP_REQUIRE=1 without -short does"
	skipped := "skipped: long: .ci/run runs it, as SAMESTEP_REQUIRE=1 without -short does"
	nightly := "skipped: at night: .ci/run runs it with SAMESTEP_CI_NIGHT=1"
	for _, row := range []struct{ required, short, want string }{
		{"", "false", skipped}, {"", "true", skipped}, {"1", "true", skipped}, {"1", "false", ""},
	} {
		t.Setenv(variable, row.required)
		short.Value.Set(row.short)
		var o outcome
		if Long(&o); o.text != row.want {
			t.Errorf("with %q and -short=%s: got %q, want %q", row.required, row.short, o.text, row.want)
		}
		said := ""
		if row.want != "" {
			said = "logged: small: .ci/run tests the long form"
		}
		o.text = ""
		if small := Small(&o); small != (row.want != "") || o.text != said {
			t.Errorf("with %q and -short=%s: got small %v, %q, want %q", row.required, row.short, small, o.text, said)
		}
		for name, want := range map[string]string{"": unnamed, "TestX": unnamed} {
			if row.short == "false" && (name != "" || row.required != "") {
				want = ""
			}
			run.Value.Set(name)
			var o outcome
			if Named(&o); o.text != want {
				t.Errorf("with %q, -short=%s and -run=%q: got %q, want %q", row.required, row.short, name, o.text, want)
			}
		}
		for night, want := range map[string]string{"": nightly, "1": nightly} {
			if night == "1" && row.want == "" {
				want = ""
			}
			t.Setenv(nightVariable, night)
			var o outcome
			if Night(&o); o.text != want || ByNight(&outcome{}) != (want == "") {
				t.Errorf("with %q, -short=%s and night %q: got %q and %v, want %q", row.required, row.short, night, o.text, ByNight(&outcome{}), want)
			}
		}
	}
}

func TestOverlap(t *testing.T) {
	number := flag.Lookup("test.parallel")
	was := number.Value.String()
	defer number.Value.Set(was)
	if Overlap(5); number.Value.String() != "5" {
		t.Errorf("got -parallel %s, want 5", number.Value)
	}
}
