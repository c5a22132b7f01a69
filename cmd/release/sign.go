package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"aead.dev/minisign"
)

const (
	sumsFile      = "SHA256SUMS"
	signatureFile = sumsFile + ".minisig"
	// publicKeyFile is the key by which everybody verifies a release. Whoever makes the first one puts it there.
	publicKeyFile = "cmd/release/minisign.pub"
	// secretKeyVariable holds the text of the file with the secret key, as minisign -G -W makes it: one
	// with a password would only need a second variable beside it.
	secretKeyVariable = "MINISIGN_SECRET_KEY"
)

// sign signs the sums in dir with the key of the environment, and verifies that with the public key in
// root. It writes nothing if that fails.
func sign(root, dir string) error {
	key, err := secretKey(os.Getenv(secretKeyVariable))
	if err != nil {
		return fmt.Errorf("%s: %w", secretKeyVariable, err)
	}
	public, err := publicKey(filepath.Join(root, filepath.FromSlash(publicKeyFile)))
	if err != nil {
		return err
	}
	if !public.Equal(key.Public()) {
		return fmt.Errorf("%s is not the key of %s", publicKeyFile, secretKeyVariable)
	}
	sums, err := os.ReadFile(filepath.Join(dir, sumsFile)) //nolint:gosec // of the release
	if err != nil {
		return err
	}
	// the comment tells one release from another: minisign shows it once it is verified
	version, err := versionIn(sums)
	if err != nil {
		return err
	}
	hashed := minisign.NewReader(bytes.NewReader(sums))
	if _, err := io.Copy(io.Discard, hashed); err != nil {
		return err
	}
	signature := hashed.SignWithComments(key, "restwarden v"+version+" "+sumsFile, "verify with "+publicKeyFile)
	if !minisign.Verify(public, sums, signature) {
		return errors.New("the signature is not right")
	}
	return os.WriteFile(filepath.Join(dir, signatureFile), signature, 0o644) //nolint:gosec // for everybody
}

// secretKey reads a key without a password.
func secretKey(text string) (key minisign.PrivateKey, err error) {
	if strings.TrimSpace(text) == "" {
		return key, errors.New("is empty: a release is not published without a signature")
	}
	err = key.UnmarshalText([]byte(strings.TrimSpace(text)))
	return key, err
}

// publicKey reads the key of the project.
func publicKey(name string) (key minisign.PublicKey, err error) {
	text, err := os.ReadFile(name) //nolint:gosec // of the repository
	if err == nil {
		err = key.UnmarshalText(text)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", publicKeyFile, err, bytes.TrimSpace(text))
	}
	return key, err
}

// archiveLine is the line of an archive in the sums, with its version.
var archiveLine = regexp.MustCompile(`(?m)^\w+  restwarden_([^_\s]+)_\S+\.(?:tar\.gz|zip)$`)

// versionIn is the version in the names of the archives.
func versionIn(sums []byte) (string, error) {
	m := archiveLine.FindSubmatch(sums)
	if m == nil {
		return "", fmt.Errorf("%s names no archive", sumsFile)
	}
	return string(m[1]), nil
}
