//go:build !js

package module

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
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
	if err := safe.checkExports(); err != nil {
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
	return r.caller(false, func() (*instance, error) { return r.newInstance(nil) })
}

// Unused is New for an instance that nobody has used, see [abi.Unused].
func (r *Rules) Unused() (abi.Caller, error) {
	return r.caller(true, func() (*instance, error) { return r.newInstance(nil) })
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

// maxCompiled is how many bytes the files of compiled modules in a cache may have.
const maxCompiled = 512 << 20

func (r *Rules) compileHere(ctx context.Context, safe []byte) (err error) {
	if r.compiled, err = r.runtime.CompileModule(ctx, safe); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// load loads the module from the cache of the runtime, and compiles nothing: the error is context.Canceled if the cache has no code of
// this version of the compiler for this processor.
func (r *Rules) load(ctx context.Context, safe []byte) error {
	ended, end := context.WithCancel(experimental.WithCompilationWorkers(ctx, 2)) // several workers end with their context
	end()
	return r.compileHere(ended, safe)
}

// compileInto loads the module from the cache, or compiles it into that.
func (r *Rules) compileInto(ctx context.Context, module, safe []byte, o Options) error {
	load := func() error {
		if r.runtime == nil {
			if err := r.open(ctx, o); err != nil {
				return err
			}
		}
		return r.load(ctx, safe)
	}
	if !o.temporary {
		if err := load(); !errors.Is(err, context.Canceled) {
			return err
		}
	}
	if o.Process != nil {
		return compileElsewhere(ctx, module, o, load)
	}
	if err := r.compileHere(ctx, safe); err != nil {
		return err
	}
	return shrink(o.Cache, maxCompiled)
}

// shrink removes the oldest files from a cache, until the files have at most some bytes. The youngest is kept.
func shrink(cache string, most int64) error {
	type file struct {
		path    string
		written time.Time
		size    int64
	}
	var all []file
	total := int64(0)
	err := filepath.WalkDir(cache, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return gone(err)
		}
		info, err := e.Info()
		if err == nil {
			all = append(all, file{path, info.ModTime(), info.Size()})
			total += info.Size()
		}
		return gone(err)
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b file) int { return a.written.Compare(b.written) })
	for i := 0; i < len(all)-1 && total > most; i++ {
		if err := gone(os.Remove(all[i].path)); err != nil {
			return err
		}
		total -= all[i].size
	}
	return nil
}

// gone returns err, or nil for a file that another process has removed.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// A start is what instances begin with.
type start struct {
	image     *image   // of the memory
	pages     uint32   // of the memory
	variables []uint64 // of those that the module can change
}

// begin returns what instances begin with after _initialize, which only the first one runs: the module imports nothing, so
// _initialize does the same in each. It returns nil if each instance has to run it.
func (r *Rules) begin(b *Budget) (*start, error) {
	r.starting.Lock()
	defer r.starting.Unlock()
	if r.started != nil || r.hidden {
		return r.started, nil
	}
	i, err := r.initialized(b)
	if err != nil {
		return nil, err
	}
	defer i.close()
	memory := i.module.Memory()
	all, _ := memory.Read(0, memory.Size())
	if all = bytes.TrimRight(all, "\x00"); len(all) > maxImage {
		r.hidden = true
		return nil, nil
	}
	s := &start{image: newImage(bytes.Clone(all)), pages: memory.Size() / pageBytes}
	for _, v := range r.variables {
		s.variables = append(s.variables, variable(i.module, variableName(v)).Get())
	}
	r.image.close()
	r.started, r.image = s, s.image
	return s, nil
}

// apply lets an instance, which has the image, begin.
func (s *start) apply(i *instance, variables []int) {
	if m := i.module.Memory(); m.Size()/pageBytes < s.pages {
		m.Grow(s.pages - m.Size()/pageBytes)
	}
	for n, v := range variables {
		variable(i.module, variableName(v)).Set(s.variables[n])
	}
}

// Within returns a machine of the same rules, whose instances share a budget.
func (r *Rules) Within(b *Budget) *Within { return r.within(b, false) }

// A task is what a process is told that compiles a module. The module follows it.
type task struct {
	Cache     string // the folder of compiled modules
	Temporary bool   // the process removes it with its end
	Traced    bool
	Size      int   // of the module, in bytes
	Memory    int64 // that the process may take, in bytes
}

// A compilation is what it answers.
type compilation struct {
	Malformed, Limit bool   // why the module is refused
	Text             string // the error; "" if the module is compiled
}

// compileElsewhere compiles a module into the cache by the process of the options, and loads what that has compiled before it ends.
func compileElsewhere(ctx context.Context, module []byte, o Options, load func() error) error {
	b := cmp.Or(o.Budget, &Budget{})
	left, memory := b.compileTime(), b.compileMemory()
	if b.Context != nil {
		ctx = b.Context
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := deadline{passing: patience * min(left, never/patience), work: left, end: cancel}
	debug.FreeOSMemory() // the other process needs more
	var loading error
	answer, err := d.ask(o.Process(ctx), task{o.Cache, o.temporary, o.traced, len(module), memory}, module, func() { loading = load() })
	b.spend(d.took)
	switch {
	case d.late:
		return fmt.Errorf("%w: compiling takes longer than %s", ErrLimit, advised(left.Round(time.Millisecond).String(), b.TimeAdvice))
	case ctx.Err() != nil:
		return fmt.Errorf("module: compiling: %w", ctx.Err())
	case err != nil:
		return fmt.Errorf("module: the process that compiles: %w", err)
	case answer.Limit && answer.Text == tooLargeText:
		return fmt.Errorf("%w: %s", ErrLimit, advised(fmt.Sprintf("compiling takes more than %d MiB", memory>>20), b.MemoryAdvice))
	case answer.Text != "":
		return answer.err()
	case loading != nil:
		return fmt.Errorf("module: what another process has compiled: %v", loading) // it is not malformed
	}
	return nil
}

// err returns the error of a module that was refused.
func (o *compilation) err() error {
	switch {
	case o.Malformed:
		return fmt.Errorf("%w: %s", ErrMalformed, o.Text)
	case o.Limit:
		return fmt.Errorf("%w: %s", ErrLimit, o.Text)
	}
	return fmt.Errorf("module: the process that compiles: %s", o.Text)
}

// ask runs a process with a task and a module as its input, and calls compiled if it has compiled the module. The input stays open until
// then: its end would say that this process has ended. The deadline ends the process.
func (d *deadline) ask(c *exec.Cmd, o task, module []byte, compiled func()) (answer compilation, err error) {
	c.WaitDelay = time.Second
	in, err := c.StdinPipe()
	if err != nil {
		return answer, err
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		return answer, err
	}
	var text bytes.Buffer
	c.Stderr = &text
	if err := c.Start(); err != nil {
		return answer, err
	}
	d.clock = processClock(c.Process.Pid)
	d.begin()
	go func() {
		head, _ := json.Marshal(o) // of numbers and a text
		in.Write(append(append(head, '\n'), module...))
	}()
	bad := json.NewDecoder(io.LimitReader(out, maxCompilation)).Decode(&answer)
	d.stop()
	if bad == nil && answer.Text == "" {
		compiled()
	}
	in.Close()
	err = c.Wait()
	d.took = c.ProcessState.UserTime() + c.ProcessState.SystemTime() // its clock is gone
	if err != nil || bad != nil {
		return answer, fmt.Errorf("%w: %.200s", cmp.Or(err, bad), bytes.TrimSpace(text.Bytes()))
	}
	return answer, nil
}

// maxCompilation is the size of the longest answer of a process, in bytes.
const maxCompilation = 1 << 20

// patience is how many times the time that a process may work may pass until it is ended: others may have the processors.
const patience = 4

// tooLargeText is the answer of a process that would take too much memory.
const tooLargeText = "memory"
