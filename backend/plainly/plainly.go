// Package plainly says what went wrong in svc's words, in the place of those of Go and of
// libraries, which tell of system calls, and not of what a person named.
package plainly

import (
	"archive/zip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Error is an error's text in svc's words.
func Error(err error) string {
	text := err.Error()
	each(err, func(raw error) bool {
		said := inOurWords(raw)
		if said != "" {
			text = strings.Replace(text, raw.Error(), said, 1)
		}
		return said == ""
	})
	return text
}

// each visits an error and those that it wraps, the outermost first, and goes on
// below one where visit says so.
func each(err error, visit func(error) bool) {
	if err == nil || !visit(err) {
		return
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		each(e.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			each(one, visit)
		}
	}
}

// inOurWords is what svc says of an error of Go or of a library; "" of any other.
func inOurWords(err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return ofFile(e.Path, e.Err)
	case *os.LinkError:
		return ofFile(e.New, e.Err)
	case *url.Error:
		if said := ofNetwork(e.Err); said != "" {
			return e.URL + " can't be reached: " + said
		}
	case *net.OpError:
		if said := ofNetwork(e); said != "" {
			return said
		}
	case *jsontext.SyntacticError, *json.SemanticError:
		return "it is no JSON of the form that is needed"
	case x509.UnknownAuthorityError, x509.HostnameError, x509.CertificateInvalidError:
		return ofNetwork(err)
	}
	switch {
	case err == zip.ErrFormat:
		return "it is no zip archive, or was cut short"
	case err == io.ErrUnexpectedEOF:
		return "it ends too early"
	}
	return ""
}

// fileFaults are what a system says of a file, in a person's words.
var fileFaults = []struct {
	is   error
	said string
}{
	{fs.ErrNotExist, "there is no %s"},
	{fs.ErrPermission, "this user has no permission for %s"},
	{fs.ErrExist, "%s is already there"},
	{syscall.ENOTDIR, "%s is no folder, or is below a file"},
	{syscall.EISDIR, "%s is a folder, not a file"},
	{syscall.EROFS, "%s is on a file system that is read-only"},
	{syscall.ENOSPC, "there is no space left for %s"},
	{syscall.EDQUOT, "the quota leaves no space for %s"},
	{syscall.ELOOP, "%s is a link that leads to itself"},
	{syscall.ENAMETOOLONG, "the name %.80s… is too long"},
	{syscall.EIO, "%s can't be read: its disk reports an error"},
}

func ofFile(path string, err error) string {
	for _, fault := range fileFaults {
		if errors.Is(err, fault.is) {
			return fmt.Sprintf(fault.said, path)
		}
	}
	return ""
}

// ofNetwork says why no connection was made, and what to look at; "" where that
// is something else.
func ofNetwork(err error) string {
	var name *net.DNSError
	var address *net.AddrError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var noTLS tls.RecordHeaderError
	switch {
	case errors.As(err, &name) && strings.HasPrefix(name.Name, "tcp/"): // a port was looked for
		return fmt.Sprintf("there is no port %q: it is a number, such as 8443", name.Name[len("tcp/"):])
	case errors.As(err, &name):
		return fmt.Sprintf("there is no host %q: check the name and the network", name.Name)
	case errors.As(err, &address):
		return fmt.Sprintf("%q is no address: it takes HOST:PORT, such as 127.0.0.1:8443", address.Addr)
	case errors.As(err, &authority):
		return "its certificate is signed by nobody whom this system trusts: add its authority to the system's certificates"
	case errors.As(err, &host):
		return fmt.Sprintf("its certificate is not for %q", host.Host)
	case errors.As(err, &invalid):
		return "its certificate is not valid now, or not for this use"
	case errors.As(err, &noTLS), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "it does not speak TLS: is it http://?"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: is it running, and is the port right?"
	case errors.Is(err, syscall.EADDRINUSE):
		return "the address is in use: another program listens there; choose another with --listen"
	case errors.Is(err, syscall.EACCES):
		return "this user may not listen on that port"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no way to this address: check the network"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before an answer came"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer came in time"
	}
	return ""
}
