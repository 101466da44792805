// Reads every key of the working directory with golang.org/x/crypto/ssh.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

func read(public string) error {
	line, err := os.ReadFile(public)
	if err != nil {
		return err
	}
	key, comment, _, _, err := ssh.ParseAuthorizedKey(line)
	if err != nil {
		return err
	}
	parts := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", 3)
	if wanted := strings.Join(parts[2:], ""); comment != wanted {
		return fmt.Errorf("comment %q, not %q", comment, wanted)
	}
	name := strings.TrimSuffix(public, ".pub")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var signer ssh.Signer
	if strings.HasPrefix(name, "plain") || strings.HasPrefix(name, "pkcs8") {
		signer, err = ssh.ParsePrivateKey(data)
	} else {
		signer, err = ssh.ParsePrivateKeyWithPassphrase(data, []byte("correct horse"))
	}
	if err == nil && !bytes.Equal(signer.PublicKey().Marshal(), key.Marshal()) {
		err = fmt.Errorf("another key")
	}
	return err
}

func main() {
	files, _ := filepath.Glob("*.pub")
	count, failures := 0, 0
	for _, public := range files {
		isReadable := !strings.HasPrefix(public, "gcm") && !strings.HasPrefix(public, "pbes2")
		err := read(public)
		if err == nil {
			count++
		}
		if isReadable != (err == nil) {
			failures++
			fmt.Fprintf(os.Stderr, "Go, %s: %v\n", public, err)
		}
	}
	fmt.Printf("Go: %d keys read, %d failures\n", count, failures)
	if failures > 0 || count == 0 {
		os.Exit(1)
	}
}
