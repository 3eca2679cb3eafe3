package web

import (
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"iter"
	"slices"
	"strings"

	"golang.org/x/crypto/cryptobyte"

	"svc/assess"
)

// debianAlias begins what Debian's package calls the authorities that it brings to Java
// (ca-certificates-java: UpdateCertificates).
const debianAlias = "debian:"

// ReadKeystores notes the authorities that Java trusts beside the system: people add them
// with keytool, and no package makes them anew.
func ReadKeystores(m *assess.Machine) {
	for pair := range slices.Chunk(known()["java"], 2) {
		file, bundle := pair[0], pair[1]
		if !m.Exists(file) {
			continue
		}
		b, err := m.ReadSmall(file)
		if err != nil {
			m.Outcome("certificates.java", file, err)
			continue
		}
		authorities, err := parseKeystore(b)
		if err != nil {
			m.Source("certificates.java", assess.SourceCorrupt, "/"+file+": "+err.Error())
		}
		systems := digests(m.Peek(bundle))
		if len(systems) == 0 {
			m.Source("certificates.java", assess.SourceUnreadable, "which authorities Java alone trusts: /"+bundle+" has none to compare with")
			continue
		}
		for _, a := range authorities {
			if !strings.HasPrefix(a.alias, debianAlias) && !systems[a.digest] {
				m.Fact("certificates", "java", a.alias, assess.Evidence{Path: "/" + file})
			}
		}
	}
}

// digests are those of the certificates in a bundle.
func digests(bundle string) map[[sha256.Size]byte]bool {
	all := map[[sha256.Size]byte]bool{}
	for block := range blocks(bundle) {
		all[sha256.Sum256(block.Bytes)] = true
	}
	return all
}

func blocks(text string) iter.Seq[*pem.Block] {
	return func(yield func(*pem.Block) bool) {
		for block, rest := pem.Decode([]byte(text)); block != nil && yield(block); block, rest = pem.Decode(rest) {
		}
	}
}

// authority is a certificate that a store of Java's trusts.
type authority struct {
	alias  string
	digest [sha256.Size]byte
}

// The form of stores (OpenJDK: sun/security/provider/JavaKeyStore.java).
const (
	keystoreMagic   = 0xFEEDFEED
	keystoreKey     = 1 // an entry that is a private key, with its chain
	keystoreTrusted = 2 // an entry that is trusted
)

var errKeystore = errors.New("not a whole store of Java's form JKS; see what it holds with keytool -list")

// parseKeystore reads the authorities of a store, which are there for all to read.
func parseKeystore(b []byte) (all []authority, err error) {
	s := cryptobyte.String(b)
	var magic, version, count uint32
	if !s.ReadUint32(&magic) || magic != keystoreMagic || !s.ReadUint32(&version) || !s.ReadUint32(&count) {
		return nil, errKeystore
	}
	for range count {
		var tag uint32
		var alias cryptobyte.String
		if !s.ReadUint32(&tag) || !s.ReadUint16LengthPrefixed(&alias) || !s.Skip(8) { // when it was added
			return all, errKeystore
		}
		certificates := uint32(1)
		if tag == keystoreKey && (!skipLong(&s) || !s.ReadUint32(&certificates)) || tag != keystoreKey && tag != keystoreTrusted {
			return all, errKeystore
		}
		for range certificates {
			var encoded []byte
			if version > 1 && !skipShort(&s) || !readLong(&s, &encoded) {
				return all, errKeystore
			}
			if tag == keystoreTrusted {
				all = append(all, authority{string(alias), sha256.Sum256(encoded)})
			}
		}
	}
	return all, nil
}

func readLong(s *cryptobyte.String, out *[]byte) bool {
	var n uint32
	return s.ReadUint32(&n) && int64(n) <= int64(len(*s)) && s.ReadBytes(out, int(n))
}

func skipLong(s *cryptobyte.String) bool { return readLong(s, new([]byte)) }

func skipShort(s *cryptobyte.String) bool { return s.ReadUint16LengthPrefixed(new(cryptobyte.String)) }
