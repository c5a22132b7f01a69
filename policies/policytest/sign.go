package policytest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// A timestamp that NewSite takes for now, and its signature by scheme timestamp:
// printf 1800000000 | openssl dgst -sha256 -hmac secret
const (
	SignedStamp = "X-Timestamp: 1800000000"
	StampMAC    = "01bf33ff422f289f602d55440507cc57f298bf19a9e580db0ab4833568d8286d"
)

// HexMAC is the signature of text under key, in hex.
func HexMAC(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}
