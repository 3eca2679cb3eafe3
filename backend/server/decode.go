package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"svc/backend/api"
)

// maxDepth bounds how deep a body nests.
const maxDepth = 32

// readBody reads a JSON body within the limits of the contract.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := checkMedia(r.Header); err != nil {
		return nil, err
	}
	if r.ContentLength > api.MaxBody { // refused before it is sent
		w.Header().Set("Connection", "close")
		return nil, tooLong()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, tooLong()
	}
	if err != nil {
		return nil, malformed("the body ended early")
	}
	return body, nil
}

func tooLong() error {
	return api.Errorf(api.BodyTooLarge, "the body has more than %d bytes: send it in parts", api.MaxBody)
}

// checkMedia wants plain JSON: what is compressed could grow without bound.
func checkMedia(h http.Header) error {
	if t := h.Get("Content-Type"); t != "application/json" && !isJSON(t) {
		return api.Errorf(api.UnsupportedMediaType, "the body must be application/json, in UTF-8")
	}
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return api.Errorf(api.UnsupportedMediaType, "the body must not be compressed")
	}
	return nil
}

// isJSON reads a media type as it may be spelt.
func isJSON(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// decode reads exactly one JSON value into v. Unknown, repeated and
// case-variant members, trailing data, invalid UTF-8, NUL characters and deep
// nesting are refused.
func decode(body []byte, v any) error {
	if suspect(body) {
		if err := scan(body); err != nil {
			return err
		}
	}
	err := json.Unmarshal(body, v, json.RejectUnknownMembers(true))
	var refused *api.Error
	var semantic *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
		return malformed("%s is no field of this request", semantic.JSONPointer)
	case errors.As(err, &semantic):
		return malformed("%s must not be a JSON %s here", cmp.Or(string(semantic.JSONPointer), "the body"), semantic.JSONKind)
	}
	return malformed("the body is not valid JSON: %s", syntax(err))
}

// suspect reports whether a body may nest too deep or hold a NUL character: a
// whole scan, which most bodies are spared, tells.
func suspect(body []byte) bool {
	return bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > maxDepth || bytes.Contains(body, []byte(`\u0000`))
}

// scan checks the syntax, the depth and the strings of a body.
func scan(body []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return malformed("the body is not valid JSON: %s", syntax(err))
		case d.StackDepth() > maxDepth:
			return malformed("the body nests deeper than %d", maxDepth)
		case token.Kind() == '"' && strings.ContainsRune(token.String(), 0):
			return malformed("%s holds a NUL character", d.StackPointer())
		}
	}
}

// syntax says what is wrong, without the decoder's own prefix.
func syntax(err error) string {
	return strings.TrimPrefix(err.Error(), "jsontext: ")
}

func malformed(format string, args ...any) *api.Error {
	return api.Errorf(api.MalformedRequest, "%s; nothing was recorded", fmt.Sprintf(format, args...))
}
