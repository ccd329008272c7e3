module github.com/cauri-dev/cauri/hack/localcluster/source/pause

go 1.26.0
