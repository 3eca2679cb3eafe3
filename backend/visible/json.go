package visible

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON is a JSON text with what is hidden in it written as \uXXXX. It means
// exactly what it meant: only in strings can there be such characters.
func JSON(text []byte) []byte {
	var b *bytes.Buffer // nil while text is as it was
	before, start := rune(-1), 0
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if r >= 0x7F && hidden(r, before) {
			if b == nil {
				b = &bytes.Buffer{}
			}
			b.Write(text[start:i])
			escape(b, r)
			start, r = i+size, -1
		}
		before = r
		i += size
	}
	if b == nil {
		return text
	}
	b.Write(text[start:])
	return b.Bytes()
}

// escape writes a character as JSON does.
func escape(b *bytes.Buffer, r rune) {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// JSONWriter passes JSON texts on to w as JSON writes them.
func JSONWriter(w io.Writer) io.Writer { return &jsonWriter{out: w} }

type jsonWriter struct {
	out  io.Writer
	rest []byte // the beginning of a character whose end is still to come
}

// Write implements io.Writer. The end of a text is never in the midst of a
// character, so nothing is left over.
func (w *jsonWriter) Write(p []byte) (int, error) {
	text := append(w.rest, p...)
	whole := len(text)
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				whole = i
			}
			break
		}
	}
	if _, err := w.out.Write(JSON(text[:whole])); err != nil {
		return 0, err
	}
	w.rest = bytes.Clone(text[whole:])
	return len(p), nil
}

// Values is a JSON text whose strings are as Lines has them: also who decodes
// it, and shows what is in it, shows all of it.
func Values(text []byte) ([]byte, error) {
	var b bytes.Buffer
	in := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	out := jsontext.NewEncoder(&b, jsontext.AllowDuplicateNames(true))
	for {
		token, err := in.ReadToken()
		if err == io.EOF {
			return bytes.TrimSpace(b.Bytes()), nil
		}
		if err == nil {
			if token.Kind() == '"' {
				token = jsontext.String(Lines(token.String()))
			}
			err = out.WriteToken(token)
		}
		if err != nil {
			return nil, fmt.Errorf("showing JSON: %w", err)
		}
	}
}
