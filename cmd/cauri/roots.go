package main

// The root certificates of the web, for images that contain only this program. Go uses them only if the system has no
// certificate files, and neither SSL_CERT_FILE nor SSL_CERT_DIR is set.
import _ "golang.org/x/crypto/x509roots/fallback"
