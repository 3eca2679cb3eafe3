package hazards

import (
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
)

// weaknesses are what newer releases refuse of a certificate.
var weaknesses = map[string]func(*x509.Certificate) bool{
	"sha1": func(c *x509.Certificate) bool {
		return slices.Contains([]x509.SignatureAlgorithm{x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1}, c.SignatureAlgorithm) && !selfSigned(c)
	},
	"sha1-self-signed": func(c *x509.Certificate) bool {
		return slices.Contains([]x509.SignatureAlgorithm{x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1}, c.SignatureAlgorithm) && selfSigned(c)
	},
	"md5": func(c *x509.Certificate) bool {
		return c.SignatureAlgorithm == x509.MD5WithRSA || c.SignatureAlgorithm == x509.MD2WithRSA
	},
	"dsa": func(c *x509.Certificate) bool { return c.PublicKeyAlgorithm == x509.DSA },
	"rsa<2048": func(c *x509.Certificate) bool {
		k, ok := c.PublicKey.(*rsa.PublicKey)
		return ok && k.N.BitLen() < 2048
	},
	"lax": lax,
}

// lax certificates are refused where OpenSSL checks strictly (X509_V_FLAG_X509_STRICT,
// crypto/x509/x509_vfy.c: check_extensions): authorities that do not say what their key is
// for, or whose being one is not critical, and what they signed without saying by which key.
func lax(c *x509.Certificate) bool {
	critical := slices.ContainsFunc(c.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(basicConstraints) && e.Critical })
	switch {
	case c.Version < 3:
		return false
	case c.IsCA && (c.KeyUsage == 0 || !critical || len(c.SubjectKeyId) == 0):
		return true
	}
	return !selfSigned(c) && len(c.AuthorityKeyId) == 0
}

var basicConstraints = asn1.ObjectIdentifier{2, 5, 29, 19}

// selfSigned certificates are trusted as they are: nobody checks their signature.
func selfSigned(c *x509.Certificate) bool { return string(c.RawIssuer) == string(c.RawSubject) }

func checkCertificate(args []string) error {
	if weaknesses[args[0]] == nil {
		return fmt.Errorf("%q is none of dsa, lax, md5, rsa<2048, sha1, sha1-self-signed", args[0])
	}
	return nil
}

// maxChain bounds the certificates of one file.
const maxChain = 20

// certificates are those in a file, of which it is not known whether it has any.
func (m *Machine) certificates(name string) []*x509.Certificate {
	return once(&m.chains, name, func() (all []*x509.Certificate) {
		rest := []byte(m.Files.Text(name))
		for range maxChain {
			var b *pem.Block
			if b, rest = pem.Decode(rest); b == nil {
				break
			}
			if c, err := x509.ParseCertificate(b.Bytes); err == nil && b.Type == "CERTIFICATE" {
				all = append(all, c)
			}
		}
		return all
	})
}

// anchor reports whether a file is among the authorities that people had the machine trust
// (update-ca-certificates(8), update-ca-trust(8)).
func anchor(name string) bool {
	return slices.ContainsFunc([]string{"/usr/local/share/ca-certificates/", "/etc/pki/ca-trust/source/anchors/", "/etc/pki/trust/anchors/"}, func(folder string) bool { return strings.HasPrefix(name, folder) })
}

// askCertificate passes over authorities of the lax that nobody trusts: what signed itself
// and is only served is refused as it was.
func askCertificate(m *Machine, q *question, found *Match) {
	for _, name := range m.Certificates {
		if slices.ContainsFunc(m.certificates(name), func(c *x509.Certificate) bool {
			return weaknesses[q.args[0]](c) && (q.args[0] != "lax" || !selfSigned(c) || anchor(name))
		}) {
			found.stands(name, Place{name, 0})
		}
	}
}
