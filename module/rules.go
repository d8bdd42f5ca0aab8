//go:build !js

package module

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// Rules are the rules in a compiled module. They are an [abi.Machine].
type Rules struct {
	runtime  wazero.Runtime          // nil before open
	cache    wazero.CompilationCache // nil without one
	compiled wazero.CompiledModule
	time     time.Duration
	passes   int64

	firstMemory int64 // bytes

	image     *image // of the memory before _initialize
	variables []int  // that the module can change
	starting  sync.Mutex
	hidden    bool   // each instance runs _initialize
	started   *start // nil before the first instance

	interpreted bool
	pool
}

// Compile compiles a module and checks it as far as that needs no call.
func Compile(module []byte, o Options) (*Rules, error) {
	return compile(context.Background(), module, o)
}

// compile is Compile with a context that may have listeners.
func compile(ctx context.Context, module []byte, o Options) (*Rules, error) {
	if len(module) > MaxBytes {
		return nil, fmt.Errorf("%w: got a module of %d bytes, want at most %d", ErrLimit, len(module), MaxBytes)
	}
	if o.Budget != nil {
		runtime.LockOSThread() // whose time counts
		defer runtime.UnlockOSThread()
		clock := threadClock()
		defer func(from time.Duration) { o.Budget.spend(clock() - from) }(clock())
	}
	safe, err := guard(module)
	if err != nil {
		return nil, err
	}
	if o.Interpret {
		o.Cache, o.Process = "", nil
	}
	if o.Cache != "" {
		if err := files.PrivateFolder(o.Cache); err != nil { // this process runs what it has
			return nil, fmt.Errorf("module: the folder of compiled modules: %w", err)
		}
	}
	if o.Process != nil && o.Cache == "" {
		o.temporary, o.Cache = true, filepath.Join(os.TempDir(), "samestep-compiled-"+rand.Text()) // which the process makes
		defer os.RemoveAll(o.Cache)                                                                // the process does it, too, if this one is ended
	}
	r := &Rules{time: cmp.Or(o.Time, DefaultTime), passes: cmp.Or(o.Passes, DefaultPasses), interpreted: o.Interpret}
	r.image, r.variables, r.hidden, r.firstMemory = newImage(safe.image), safe.variables, safe.hidden, safe.memory
	if o.Cache == "" {
		if err = r.open(ctx, o); err == nil {
			err = r.compileHere(ctx, safe.bytes)
		}
	} else {
		err = r.compileInto(ctx, module, safe.bytes, o)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := checkExports(safe.bytes); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// open makes the runtime.
func (r *Rules) open(ctx context.Context, o Options) (err error) {
	config := wazero.NewRuntimeConfig()
	if o.Interpret {
		config = wazero.NewRuntimeConfigInterpreter().WithCloseOnContextDone(true)
	}
	if o.Cache != "" {
		if r.cache, err = wazero.NewCompilationCacheWithDir(o.Cache); err != nil {
			return fmt.Errorf("module: the folder of compiled modules: %w", err)
		}
		config = config.WithCompilationCache(r.cache)
	}
	config = config.WithCoreFeatures(api.CoreFeaturesV2 &^ api.CoreFeatureSIMD).WithMemoryLimitPages(MaxMemory / pageBytes)
	r.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	return nil
}

// Close frees the compiled code. Nothing may use the rules after it.
func (r *Rules) Close() error {
	err := r.image.close()
	if r.runtime != nil {
		err = errors.Join(err, r.runtime.Close(context.Background()))
	}
	if r.cache != nil {
		err = errors.Join(err, r.cache.Close(context.Background()))
	}
	return err
}

// New implements [abi.Machine].
func (r *Rules) New() (abi.Caller, error) {
	return r.caller(func() (*instance, error) { return r.newInstance(nil) })
}

// newInstance makes an instance that has run _initialize.
func (r *Rules) newInstance(b *Budget) (*instance, error) {
	s, err := r.begin(b)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return r.initialized(b)
	}
	i, err := r.instantiated(s.image, b)
	if err != nil {
		return nil, err
	}
	s.apply(i, r.variables)
	if i.memory.full {
		i.close()
		full := b.tooLarge()
		b.note(full)
		return nil, full
	}
	i.cheap = true
	return i, nil
}

// instantiated makes an instance with an image.
func (r *Rules) instantiated(image *image, b *Budget) (*instance, error) {
	memory, full := newMemory(image, b, r.firstMemory)
	if full != nil {
		b.note(full)
		return nil, full
	}
	m, err := r.runtime.InstantiateModule(experimental.WithMemoryAllocator(context.Background(), memory), r.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, trap(err)
	}
	i := &instance{
		memory: memory, budgets: b,
		module: m, buffer: m.ExportedFunction("samestep_buffer"), call: m.ExportedFunction("samestep_call"),
		stop: variable(m, stopName), left: variable(m, leftName), budget: variable(m, budgetName), depth: variable(m, depthName), passes: r.passes,
		time: r.time, interpreted: r.interpreted,
	}
	memory.stop = func() { i.stop.Set(1) }
	return i, nil
}

// initialized makes an instance that runs _initialize.
func (r *Rules) initialized(b *Budget) (*instance, error) {
	i, err := r.instantiated(r.image, b)
	if err != nil {
		return nil, err
	}
	if f := i.module.ExportedFunction("_initialize"); f != nil {
		if err := i.run(func() error { return i.start(f) }); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// start calls _initialize.
func (i *instance) start(f api.Function) error {
	if err := f.CallWithStack(i.ctx, nil); err != nil {
		return trap(err)
	}
	return nil
}

// variable returns a variable that an instance exports.
func variable(m api.Module, name string) api.MutableGlobal {
	return m.ExportedGlobal(name).(api.MutableGlobal)
}
