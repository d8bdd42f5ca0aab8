package rules

import (
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"
)

type ints []int

func (l ints) Len() int           { return len(l) }
func (l ints) Less(i, j int) bool { return l[i] < l[j] }
func (l ints) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *ints) Push(x any)        { *l = append(*l, x.(int)) }

func (l *ints) Pop() (x any) {
	x = (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return x
}

// A report embeds what has methods without probes, by value and by pointer.
type report struct {
	strings.Builder
	*bytes.Buffer
	lock  sync.Mutex
	parts [4]byte
	names map[string]ints
}

type limit int64

func ordered[T cmp.Ordered](list []T) T {
	slices.Sort(list)
	if i, ok := slices.BinarySearch(list, list[0]); ok && i >= 0 {
		return slices.Max(list[i:])
	}
	return list[0]
}

// outside calls code without probes in all the ways there are.
func outside(n int64) (total int64) {
	list := ints{int(n), 5, 3, int(n) % 7}
	heap.Init(&list)
	heap.Push(&list, 4)
	total += int64(heap.Pop(&list).(int)) + int64(ordered(slices.Clone(list)))
	r := &report{Buffer: new(bytes.Buffer), names: map[string]ints{"a": list, "b": {1}}}
	r.Builder.WriteString("x" + strconv.Itoa(list[0]))
	r.Buffer.WriteString(strings.NewReplacer("a", "b").Replace(strings.ToUpper(r.Builder.String())))
	(*strings.Builder).WriteByte(&r.Builder, 'y')
	r.lock.Lock()
	defer r.lock.Unlock()
	write := r.Buffer.WriteByte
	if err := write('z'); err != nil {
		return 0
	}
	binary.LittleEndian.PutUint16(r.parts[1:3], uint16(n))
	wide := binary.BigEndian.AppendUint32(nil, binary.LittleEndian.Uint32(r.parts[:]))
	if n := copy(wide[1:], "ab"); n > 1 {
		total += int64(n)
	}
	tail := append(list[:1], list[2:]...)
	total += int64(len(fmt.Sprint(1, "a", nil, list, tail, n == 3, append(list[:1:1], 2), 1<<n%2)))
	delete(r.names, "b")
	for _, k := range slices.Sorted(maps.Keys(r.names)) {
		sort.Sort(sort.Reverse(r.names[k]))
		clear(r.names[k][:1])
	}
	v, err := strconv.ParseInt(strconv.FormatInt(n, 10), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0
	case bits.Len64(uint64(v)) > 3, slices.Contains(list, 3):
		total++
	}
	for i := slices.Index(list, 5); i >= 0 && i < len(list); i++ {
		total += int64(unsafe.Sizeof(list[i]))
	}
	func(x int) { sort.Ints(list); total += int64(x) }(slices.Min(list))
	slices.SortFunc[[]int](list, func(a, b int) int { return cmp.Compare(b, a) })
	total += int64(time.Duration(3).Nanoseconds()) + int64(sync.OnceValue(func() int { return list[0] })())
	var any error = fmt.Errorf("%w: %d", strconv.ErrSyntax, list)
	total += int64(len(any.Error())) + int64(max(limit(n), limit(2)))
	all := [][]int{list, {1}}
	sort.Slice(all, func(i, j int) bool { return len(all[i]) < len(all[j]) })
	defer clear(all)
	joined, found := strings.CutPrefix(strings.Join([]string{"a", r.Buffer.String()}, ","), "a")
	if found {
		total += int64(len(joined))
	}
	return total + int64(slices.Max(all[len(all)-1]))
}
