//go:build !js

package console

var HelpOf = helpOf

const MaxHelp = maxHelp
