module github.com/cauri-dev/cauri/hack/localcluster/pause

go 1.26.0
