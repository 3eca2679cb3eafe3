package api

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

const (
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	tokenPrefix    = "svc_"
	tokenRandom    = 40 // base62 characters: 238 bits
	checksumLength = 6
)

// NewToken makes an API token: svc_, 40 random base62 characters and a
// 6-character checksum. It is shown once; only TokenHash of it is kept.
func NewToken() string {
	random := make([]byte, 0, tokenRandom)
	for buf := make([]byte, tokenRandom); len(random) < tokenRandom; {
		rand.Read(buf)
		for _, b := range buf {
			// Bytes from 248 up would make the first characters likelier.
			if b < 248 && len(random) < tokenRandom {
				random = append(random, base62[b%62])
			}
		}
	}
	return tokenPrefix + string(random) + tokenChecksum(string(random))
}

// CheckToken refuses what cannot be a token, a typo included. The error never
// holds the token.
func CheckToken(token string) error {
	body, found := strings.CutPrefix(token, tokenPrefix)
	if !found || len(body) != tokenRandom+checksumLength || !tokenChars.hasAll(body) {
		return Errorf(Unauthenticated, "this is no API token: a token is svc_ and 46 letters and digits")
	}
	if tokenChecksum(body[:tokenRandom]) != body[tokenRandom:] {
		return Errorf(Unauthenticated, "the API token is mistyped: its checksum does not match")
	}
	return nil
}

// TokenHash is the SHA-256 of a token: what the store keeps of it.
func TokenHash(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// tokenChecksum is the CRC-32 of the random part in base62.
func tokenChecksum(random string) string {
	out := make([]byte, checksumLength)
	sum := crc32.ChecksumIEEE([]byte(random))
	for i := checksumLength - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out)
}
