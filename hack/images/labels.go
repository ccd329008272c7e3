package main

import "time"

// imageRepository is the name of images that no registry has. It is made up.
const imageRepository = "cauri.local/cauri"

// imageUser is a number that no other image gives to a person or a service of its own.
const imageUser = "65532:65532"

// labels are the image's, the same in the Dockerfile.
func labels(s source) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "Cauri",
		"org.opencontainers.image.description": "Mobile-money sandboxes for Kubernetes",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     s.Version,
		"org.opencontainers.image.revision":    s.Revision(),
		"org.opencontainers.image.created":     s.Time.Format(time.RFC3339),
	}
}
