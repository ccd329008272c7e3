package main

// The certificate authorities of the web, for images that contain only this program. Go uses them only if it finds no files of the system,
// SSL_CERT_FILE or SSL_CERT_DIR.
import _ "golang.org/x/crypto/x509roots/fallback"
