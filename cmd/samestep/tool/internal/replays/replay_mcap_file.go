//go:build !js

package replays

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"
)

// An mcapFile is the MCAP that is written. Its first error stays.
type mcapFile struct {
	w        *mcap.Writer
	schemas  map[string]uint16 // the number of each, by name
	Sequence []uint32          // of the last message of each channel
	Err      error
}

// NewMCAPFile begins a file.
func NewMCAPFile(w io.Writer) (*mcapFile, error) {
	const chunk = 1 << 20
	compressor, err := zstd.NewWriter(nil, zstd.WithWindowSize(chunk), zstd.WithEncoderConcurrency(1)) // each chunk on its own: a larger window only takes memory
	if err != nil {
		return nil, err
	}
	custom := mcap.NewCustomCompressor(mcap.CompressionZSTD, compressor)
	writer, err := mcap.NewWriter(w, &mcap.WriterOptions{Chunked: true, ChunkSize: chunk, Compressor: custom, IncludeCRC: true})
	if err != nil {
		return nil, err
	}
	return &mcapFile{w: writer, schemas: make(map[string]uint16)}, writer.WriteHeader(&mcap.Header{Library: "samestep"})
}

// channel adds a channel for messages with the properties of a JSON schema, and returns its number for write. Equal names
// of schemas have equal properties.
func (f *mcapFile) channel(topic, name, properties string) int {
	id, ok := f.schemas[name]
	if !ok {
		id = uint16(len(f.schemas) + 1)
		f.schemas[name] = id
		schema := `{"type":"object","properties":{` + properties + `}}`
		f.keep(f.w.WriteSchema(&mcap.Schema{ID: id, Name: name, Encoding: "jsonschema", Data: []byte(schema)}))
	}
	f.Sequence = append(f.Sequence, 0)
	f.keep(f.w.WriteChannel(&mcap.Channel{ID: uint16(len(f.Sequence)), SchemaID: id, Topic: topic, MessageEncoding: "json"}))
	return len(f.Sequence) - 1
}

// write writes a message.
func (f *mcapFile) write(channel int, at uint64, v any) {
	if f.Err != nil {
		return
	}
	data, err := json.Marshal(v)
	if f.keep(err); err == nil {
		f.Sequence[channel]++
		f.keep(f.w.WriteMessage(&mcap.Message{ChannelID: uint16(channel + 1), Sequence: f.Sequence[channel], LogTime: at, PublishTime: at, Data: data}))
	}
}

func (f *mcapFile) metadata(name string, values map[string]string) {
	f.keep(f.w.WriteMetadata(&mcap.Metadata{Name: name, Metadata: values}))
}

func (f *mcapFile) keep(err error) {
	if f.Err == nil {
		f.Err = err
	}
}

func (f *mcapFile) close() error { return errors.Join(f.Err, f.w.Close()) }
