//go:build !js

package engine

type (
	NetBench   = netBench
	SideResult = sideResult
)

var RunWire = (*netBench).runWire
