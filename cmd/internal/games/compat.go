//go:build !js

package games

import (
	"net/http"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/platforms/compat"
	"github.com/seed-49bee653/samestep/server"
)

// compatible lets serve --compat speak the other wire of the game platforms.
func compatible() []tool.Option {
	return []tool.Option{tool.Compat(compat.Settings(), func(s *server.Server, o tool.CompatOptions) http.Handler {
		return compat.New(s, compat.Options{Match: o.Match, Strangers: o.Strangers, Origins: o.Origins, MaxPerAddress: o.MaxPerAddress, Log: o.Log})
	})}
}
