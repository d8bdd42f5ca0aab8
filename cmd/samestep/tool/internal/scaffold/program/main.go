// The command line of the game: go run . --help lists its verbs.
package main

import (
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/scaffold/rules"
)

func main() {
	tool.Main(tool.New(rules.Rules(), tool.Bot(rules.NewBot), tool.Config(rules.Usual), tool.Score(rules.Points),
		tool.Draw(rules.Draw), tool.Input(rules.Input)))
}
