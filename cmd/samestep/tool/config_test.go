//go:build !js

package tool

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
)

// The field Units of --config sizes the fields that the configuration leaves out, and a verb's own number holds unless it is there.
func TestUnitsInConfig(t *testing.T) {
	g := games[0]
	large := skirmish.Sized(2, 900)
	wide := large
	wide.Size = 256
	for _, row := range []struct {
		text  string
		units uint16 // of the verb
		want  skirmish.Config
	}{
		{`{"Units": 900}`, 0, large},
		{`{"Units": 900}`, 24, large},
		{``, 900, large},
		{`{}`, 900, large},
		{`{"Size": 256}`, 900, wide},
		{`{"Size": 256, "Units": 900}`, 24, wide},
		{``, 0, skirmish.Sized(2, 400)}, // as usual
	} {
		text := []byte(row.text)
		if row.units > 0 {
			text = g.WithUnits(text, row.units)
		}
		got, err := g.Configure(2, 0, text)
		if err != nil || !reflect.DeepEqual(got, &row.want) {
			t.Errorf("%s, %d: got %+v, %v, want %+v", row.text, row.units, got, err, row.want)
		}
	}
	for line, want := range map[string]string{
		`--config {"Units":60} --players 2`:       "ok\n",
		`--config {"Units":"many"}`:               `Units`,
		`--config {"Unit":60}`:                    `serve: --config: lockstep: configuration of skirmish: state: JSON: unknown field "Unit"`,
		`--config {"Units":60`:                    `serve: --config: lockstep: configuration of skirmish: state: JSON: line 1`,
		`--config {"Units":60} --game minimal`:    `Units`,
		`--config {"Units":70000}`:                `Units`,
		`--config {"Units":9} --set scenario=non`: `scenario: `,
	} {
		if code, out := checkServe(t, "", append(strings.Fields(line), "--dir", "")...); !strings.Contains(out, want) || (code == console.ExitOK) != (want == "ok\n") {
			t.Errorf("%s: got exit code %d and %s, want %s", line, code, out, want)
		}
	}
	var out bytes.Buffer
	without := New(minimal.Rules(), Units(func(int, int) minimal.Config { return minimal.Config{} }))
	if code := Run(t.Context(), []string{"x", "version"}, &out, &out, without); code != console.ExitError || !strings.Contains(out.String(), "without a whole number Units") {
		t.Errorf("a configuration without Units: got exit code %d and %s", code, &out)
	}
}
