//go:build !js

package gameset

import (
	"cmp"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/files"
)

// Tell prints v with --json, with the rules that were used, and otherwise calls print. It returns the error of printing, or else err, the verb's result.
func Tell(c *cli.Context, v any, print func(io.Writer), err error) error {
	if !c.Bool("json") {
		print(c.App.Writer)
		return err
	}
	b, werr := WithRules(v, ModulesOf(c).UsedSoFar(nil))
	if werr == nil {
		werr = console.WriteJSON(c.App.Writer, b)
	}
	return cmp.Or(werr, err)
}

// TellPage is tell for a report that --html also writes as a page for browsers. If the page cannot be written, the report is
// told all the same, and the error is that of the page.
func TellPage(c *cli.Context, v interface{ WriteHTML(io.Writer) error }, print func(io.Writer), err error) error {
	page, failed := c.String(console.HTMLFlag.Name), error(nil)
	if page != "" {
		failed = files.Create(page, func(out *os.File) error { return v.WriteHTML(out) })
	}
	err = Tell(c, v, func(w io.Writer) {
		print(w)
		if page != "" && failed == nil {
			console.NewLiner(w)("page", "%s", page)
		}
	}, err)
	return cmp.Or(failed, err)
}
