package web

import (
	"bytes"
	"crypto"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

// Bounds of the search for certificates.
const (
	maxCertificates = 500       // that are listed
	maxCertificate  = 256 << 10 // bytes of a file that may hold one
	maxCertFiles    = 2000      // files that are looked into
	maxCertDepth    = 4         // folders below a place
)

// certificateRows say where certificates stand, and what names them.
//
//go:embed certificates.tsv
var certificateRows string

var known = sync.OnceValue(func() map[string][]string { return tsv.Words(certificateRows) })

// authorities has a link for each authority that the distribution trusts.
const authorities = "etc/ssl/certs"

// certificates is the search in the making.
type certificates struct {
	m      *assess.Machine
	byFile map[string][]int  // indexes of what each file has
	byKey  map[string]string // keys by the file that is named beside them
	named  map[string][]assess.Evidence
	looked int
}

// ReadCertificates looks for certificates in the places where they stand, and
// where configuration says that they are.
func ReadCertificates(m *assess.Machine) {
	c := &certificates{m, map[string][]int{}, map[string]string{}, map[string][]assess.Evidence{}, 0}
	for _, file := range m.Glob(known()["configs"]...) {
		c.configuration(file)
	}
	for _, file := range assess.SortedKeys(c.named) {
		c.look(file[1:], true)
	}
	for _, dir := range known()["places"] {
		c.folder(dir, 0)
	}
	if c.looked >= maxCertFiles {
		m.Source("certificates", assess.SourceUnreadable, fmt.Sprintf("more than %d files look like certificates; the rest was not looked at", maxCertFiles))
	}
	slices.SortFunc(m.A.Certificates, func(a, b assess.Certificate) int {
		return strings.Compare(a.Path+"\x00"+a.Subject, b.Path+"\x00"+b.Subject)
	})
}

// configuration notes the certificates and keys that a file names. A key
// belongs to the certificate that is named before it.
func (c *certificates) configuration(file string) {
	cert := ""
	for n, line := range assess.NumberedLines(c.m.Peek(file[1:])) {
		key, value := assess.CutSetting(strings.TrimRight(line, ";"), "")
		name := strings.Trim(strings.TrimLeft(strings.TrimSpace(value), "=<: "), `"'`)
		key = strings.ToLower(key)
		isKey := slices.Contains(known()["keys"], key)
		switch {
		case strings.Contains(line, " crt "): // HAProxy: "bind *:443 ssl crt FILE"
			_, rest, _ := strings.Cut(line, " crt ")
			name, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
		case !isKey && !slices.Contains(known()["settings"], key):
			continue
		}
		name = path.Clean(name)
		switch {
		case !path.IsAbs(name) || !fs.ValidPath(name[1:]):
		case isKey:
			c.byKey[cert] = name
		default:
			cert = name
			c.named[name] = append(c.named[name], assess.Evidence{Path: file, Line: n})
		}
	}
}

// folder looks into the files of a place.
func (c *certificates) folder(dir string, depth int) {
	if depth > maxCertDepth || slices.Contains(known()["trusted"], dir) {
		return
	}
	entries, err := c.m.FS.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.m.Outcome("certificates", dir, err)
	}
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		switch isLink := e.Type()&fs.ModeSymlink != 0; {
		case e.IsDir():
			c.folder(file, depth+1)
		case !slices.Contains(known()["names"], strings.ToLower(path.Ext(file))), slices.Contains(known()["trusted"], file), isLink && dir == authorities:
		default:
			c.look(file, false)
		}
	}
}

// look reads the first certificate of a file: what follows it is its chain.
func (c *certificates) look(file string, named bool) {
	if _, done := c.byFile[file]; done || c.looked >= maxCertFiles || len(c.m.A.Certificates) >= maxCertificates {
		return
	}
	c.looked++
	c.byFile[file] = nil
	info, err := c.m.FS.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCertificate {
		if named && err != nil {
			c.m.Outcome("certificates."+path.Base(file), file, err)
		}
		return
	}
	b, err := c.m.ReadSmall(file)
	if err != nil {
		c.m.Outcome("certificates."+path.Base(file), file, err)
		return
	}
	cert, err := parseCertificate(b)
	switch {
	case err != nil && named:
		c.m.Source("certificates."+path.Base(file), assess.SourceCorrupt, fmt.Sprintf("/%s: %v", file, err))
	case err == nil:
		c.add("/"+file, cert, bytes.Contains(b, []byte("PRIVATE KEY-----")))
	}
}

var errNoCertificate = errors.New("no certificate in it")

// parseCertificate is the first certificate in a file of PEM or DER.
func parseCertificate(b []byte) (*x509.Certificate, error) {
	if len(b) > 0 && b[0] == 0x30 {
		return x509.ParseCertificate(b)
	}
	for rest := b; ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			return nil, errNoCertificate
		}
		if block.Type == "CERTIFICATE" || block.Type == "X509 CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
}

// add adds a certificate, with its key where it has one.
func (c *certificates) add(file string, cert *x509.Certificate, ownKey bool) {
	found := assess.Certificate{
		Path: file, Subject: cert.Subject.String(), Names: namesOf(cert), Issuer: cert.Issuer.String(),
		NotBefore: cert.NotBefore.UTC().Format(time.RFC3339), NotAfter: cert.NotAfter.UTC().Format(time.RFC3339),
		SelfSigned: bytes.Equal(cert.RawSubject, cert.RawIssuer), Authority: cert.IsCA, UsedBy: assess.List(c.named[file]),
	}
	found.Key = c.keyOf(file, ownKey)
	if found.Key != "" && (found.Key == c.byKey[file] || stem(found.Key) == stem(file)) {
		found.KeyFits = c.fits(found.Key, cert)
	}
	c.m.A.Certificates = append(c.m.A.Certificates, found)
}

func stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// fits says whether a file has the private key of a certificate.
func (c *certificates) fits(file string, cert *x509.Certificate) string {
	b, err := host.ReadFile(c.m.FS, file[1:], assess.MaxKey)
	if err != nil {
		return ""
	}
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		key, ok := parseKey(block).(interface{ Public() crypto.PublicKey })
		if !ok {
			continue // a certificate, parameters, or a key under a passphrase
		}
		if public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool }); ok && public.Equal(cert.PublicKey) {
			return "yes"
		}
		return "no"
	}
	return ""
}

// parseKey is the private key of a block of PEM, or nil.
func parseKey(block *pem.Block) any {
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		return key
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key
	}
	return nil
}

// namesOf are the host names and addresses that a certificate is good for.
func namesOf(cert *x509.Certificate) []string {
	names := slices.Concat(cert.DNSNames, sliced.Map(cert.IPAddresses, net.IP.String))
	return assess.List(names[:min(len(names), 100)])
}

// keyOf is where the private key of a certificate is, if it is there: in the
// file itself, where configuration says, or beside it under a usual name.
func (c *certificates) keyOf(file string, ownKey bool) string {
	if ownKey {
		return file
	}
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	for _, key := range []string{
		c.byKey[file], path.Join(path.Dir(file), base+".key"), path.Join(path.Dir(file), "../private", base+".key"), path.Join(path.Dir(file), "privkey.pem"),
		path.Join(path.Dir(file), base+"-key.pem"), path.Join(path.Dir(file), strings.Replace(path.Base(file), "cert", "privkey", 1)),
	} {
		if key != "" && key != file && c.m.Exists(key[1:]) {
			return key
		}
	}
	return ""
}
