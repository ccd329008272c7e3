package main

import "time"

// imageRepository is the name of the images that stay on this machine. Its registry does not exist.
const imageRepository = "cauri.local/cauri"

// publishedRepository is the repository to which the release workflow pushes, and the default of the chart.
const publishedRepository = "ghcr.io/cauri-dev/cauri"

// imageUser is a user id without special rights that other images do not use.
const imageUser = "65532:65532"

// labels returns the labels of the image. The Dockerfile has the same.
func labels(s source) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "Cauri",
		"org.opencontainers.image.description": "Mobile-money sandboxes for Kubernetes",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.source":      "https://github.com/cauri-dev/cauri",
		"org.opencontainers.image.version":     s.Version,
		"org.opencontainers.image.revision":    s.Revision(),
		"org.opencontainers.image.created":     s.Time.Format(time.RFC3339),
	}
}
