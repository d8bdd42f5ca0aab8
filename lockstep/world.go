package lockstep

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

// world is a state of a game, without its Go type.
type world interface {
	load(contents [][]byte) error
	create(s Settings) error
	derive()
	step(t *Turn)
	validate(c *Command) error
	append(dst []byte) []byte
	appendConfig(dst []byte) []byte
	restore(t Tick, b []byte) error
	copyFrom(w world)
	sum(dst *checksum.Sum)
	state() any
	settings() any // the configuration
	viewer(p Player) Viewer
	close() // says that nobody uses the world any more
}

// A ConfigError is the refusal of a match's players or configuration by the game's New, by its Load, or because of its list of
// assets.
type ConfigError struct {
	Game string
	Err  error // of New or Load, or a *record.AssetError
}

// Error names the game once: its own error may begin with the name, too.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("lockstep: %s: %s", e.Game, strings.TrimPrefix(e.Err.Error(), e.Game+": "))
}

func (e *ConfigError) Unwrap() error { return e.Err }

// worldOf is a world of the game with state S and configuration C.
type worldOf[S, C any] struct {
	rules       *Rules[S, C]
	codec       *state.Codec[S]
	configCodec *state.Codec[C]
	config      C
	s           S
}

func (w *worldOf[S, C]) load(contents [][]byte) error {
	//samestep:allow unseen a game is checked where it gives its functions to Rules
	if err := w.rules.Load(&w.config, contents); err != nil {
		return &ConfigError{w.rules.Name, err}
	}
	return nil
}

func (w *worldOf[S, C]) create(settings Settings) error {
	//samestep:allow unseen a game is checked where it gives its functions to Rules
	if err := w.rules.New(&w.s, &settings, &w.config); err != nil {
		return &ConfigError{w.rules.Name, err}
	}
	return nil
}

func (w *worldOf[S, C]) derive() {
	if w.rules.Derive != nil {
		//samestep:allow unseen a game is checked where it gives its functions to Rules
		w.rules.Derive(&w.s, &w.config)
	}
}

//samestep:allow unseen a game is checked where it gives its functions to Rules
func (w *worldOf[S, C]) step(t *Turn) { w.rules.Step(&w.s, &w.config, t) }

func (w *worldOf[S, C]) validate(c *Command) error {
	if w.rules.Validate == nil {
		return nil
	}
	//samestep:allow unseen a game is checked where it gives its functions to Rules
	return w.rules.Validate(&w.s, &w.config, c)
}

func (w *worldOf[S, C]) viewer(p Player) Viewer {
	if w.rules.ViewOf == nil {
		return Viewer{As: AsPlayer, Number: uint8(p)}
	}
	//samestep:allow unseen a game is checked where it gives its functions to Rules
	return w.rules.ViewOf(&w.s, p)
}

func (w *worldOf[S, C]) close()                         {}
func (w *worldOf[S, C]) appendConfig(dst []byte) []byte { return w.configCodec.Append(dst, &w.config) }
func (w *worldOf[S, C]) append(dst []byte) []byte       { return w.codec.Append(dst, &w.s) }
func (w *worldOf[S, C]) restore(_ Tick, b []byte) error { return w.codec.Decode(b, &w.s) }
func (w *worldOf[S, C]) copyFrom(o world)               { w.codec.Copy(&w.s, &o.(*worldOf[S, C]).s) }
func (w *worldOf[S, C]) sum(dst *checksum.Sum)          { checksum.Of(dst, w.codec, &w.s) }
func (w *worldOf[S, C]) state() any                     { return &w.s }
func (w *worldOf[S, C]) settings() any                  { return &w.config }
