package main

// The certificate authorities of the web, for images that hold nothing but this program. They are used where the system has
// none: files of the system, and those that SSL_CERT_FILE and SSL_CERT_DIR name, come first.
import _ "golang.org/x/crypto/x509roots/fallback"
