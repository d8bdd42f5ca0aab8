//go:build !js

package mcap

import (
	"io"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/parts"
)

func init() { parts.MCAP = begin }

// A file is an MCAP that is being written.
type file struct{ w *mcap.Writer }

func begin(w io.Writer) (parts.MCAPFile, error) {
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
	return file{writer}, writer.WriteHeader(&mcap.Header{Library: "samestep"})
}

func (f file) Schema(id uint16, name string, json []byte) error {
	return f.w.WriteSchema(&mcap.Schema{ID: id, Name: name, Encoding: "jsonschema", Data: json})
}

func (f file) Channel(id, schema uint16, topic string) error {
	return f.w.WriteChannel(&mcap.Channel{ID: id, SchemaID: schema, Topic: topic, MessageEncoding: "json"})
}

func (f file) Message(channel uint16, sequence uint32, nanoseconds uint64, json []byte) error {
	return f.w.WriteMessage(&mcap.Message{ChannelID: channel, Sequence: sequence, LogTime: nanoseconds, PublishTime: nanoseconds, Data: json})
}

func (f file) Metadata(name string, values map[string]string) error {
	return f.w.WriteMetadata(&mcap.Metadata{Name: name, Metadata: values})
}

func (f file) Close() error { return f.w.Close() }
