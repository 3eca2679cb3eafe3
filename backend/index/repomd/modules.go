package repomd

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"svc/backend/index/record"
)

// maxDocument bounds one document of modules.yaml, in bytes.
const maxDocument = 16 << 20

// Modules are the module streams of a repository.
type Modules struct {
	// Streams has for each artifact, name-epoch:version-release.arch, the
	// streams that have it, as module:stream.
	Streams  map[string][]string
	Defaults map[string]string // module → its default stream
}

// moduleDocument is what is used of a document of modules.yaml.
type moduleDocument struct {
	Document string `yaml:"document"`
	Data     struct {
		Name      string `yaml:"name"`
		Module    string `yaml:"module"`
		Stream    scalar `yaml:"stream"`
		Artifacts struct {
			RPMs []string `yaml:"rpms"`
		} `yaml:"artifacts"`
	} `yaml:"data"`
}

// scalar is a value as it is written: the stream 1.10 is not 1.1.
type scalar string

// UnmarshalYAML takes the text of a scalar.
func (s *scalar) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return errors.New("a stream is no scalar")
	}
	*s = scalar(n.Value)
	return nil
}

// ReadModules reads a modules.yaml: documents of modulemd, version 1 or 2, and
// of modulemd-defaults; others are passed over.
func ReadModules(r io.Reader) (*Modules, error) {
	m := &Modules{Streams: map[string][]string{}, Defaults: map[string]string{}}
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), 1<<20)
	var text bytes.Buffer
	for s.Scan() {
		line := s.Bytes()
		if bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("...")) {
			if err := m.add(text.Bytes()); err != nil {
				return nil, err
			}
			text.Reset()
			continue
		}
		text.Write(line)
		text.WriteByte('\n')
		if text.Len() > maxDocument {
			return nil, fmt.Errorf("reading modules: a document has more than %d bytes", maxDocument)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("reading modules: %w", err)
	}
	return m, m.add(text.Bytes())
}

func (m *Modules) add(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var d moduleDocument
	if err := yaml.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("reading modules: %w", err)
	}
	switch d.Document {
	case "modulemd":
		stream := d.Data.Name + ":" + string(d.Data.Stream)
		for _, artifact := range d.Data.Artifacts.RPMs {
			m.Streams[artifact] = record.AppendNew(m.Streams[artifact], stream)
		}
	case "modulemd-defaults":
		if d.Data.Stream != "" {
			m.Defaults[d.Data.Module] = string(d.Data.Stream)
		}
	}
	return nil
}

// Of are the streams that have a package; the default one comes first.
func (m *Modules) Of(p Package) []string {
	version := p.Version
	if !strings.Contains(version, ":") {
		version = "0:" + version
	}
	streams := slices.Clone(m.Streams[p.Name+"-"+version+"."+p.Arch])
	slices.SortFunc(streams, func(a, b string) int {
		return cmp.Or(record.BoolOrder(m.Default(b))-record.BoolOrder(m.Default(a)), cmp.Compare(a, b))
	})
	return streams
}

// Default reports whether module:stream is a default.
func (m *Modules) Default(stream string) bool {
	name, version, _ := strings.Cut(stream, ":")
	return m.Defaults[name] == version && version != ""
}
