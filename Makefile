# Cauri. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The race detector needs a C compiler; without one the tests run without it.
RACE := $(if $(shell command -v $$(go env CC) 2>/dev/null),-race,)

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Running

.PHONY: up
up: build ## Bring up the whole system on this machine, with a sample sandbox (CAURI_API_PORT, default 8080)
	@bin/localcluster up

.PHONY: down
down: bin/localcluster ## Stop what `make up` started; the data stay
	@bin/localcluster down

.PHONY: clean
clean: bin/localcluster ## Stop what `make up` started and remove its data and the built programs
	@bin/localcluster down --purge
	@rm -rf bin

.PHONY: status
status: bin/localcluster ## Show what runs
	@bin/localcluster status

##@ Developing

.PHONY: build
build: bin/cauri bin/localcluster ## Build bin/cauri and bin/localcluster

.PHONY: test
test: build ## Run all tests
	@echo "Unit tests, tests on a real Postgres and a real Kubernetes API server, end-to-end tests"
	@KUBEBUILDER_ASSETS="$$(bin/localcluster assets)" && export KUBEBUILDER_ASSETS && \
	  bin/localcluster postgres --no-fsync -- go test $(RACE) -timeout 20m ./...
	@cd hack/localcluster && go test $(RACE) .
	@echo "All tests passed. Next: \`make up\` runs the whole system on this machine."

.PHONY: faults
faults: ## Run only the tests that kill, stop and confuse real processes; RUN=name selects
	@go test -count=1 -v -timeout 20m -run '$(RUN)' ./test/faults

.PHONY: load
load: ## Measure under load, on a Postgres of its own; LOAD=name selects (go run ./test/load -list)
	@mkdir -p bin && go run ./test/load -run '$(LOAD)' -json bin/load.json

.PHONY: generate
generate: tools ## Write the generated files anew: CRDs, RBAC, deep copies, queries, docs/reference
	@bin/controller-gen object paths=./api/...
	@bin/controller-gen crd:maxDescLen=1000 paths=./api/... output:crd:artifacts:config=config/crd
	@bin/controller-gen rbac:roleName=cauri-controller paths=./controllers/... output:rbac:artifacts:config=config/rbac
	@bin/sqlc generate
	@go run ./hack/reference

.PHONY: format
format: ## Format the Go code
	@gofmt -w $$(git ls-files '*.go')

.PHONY: check
check: tools ## Check format, vet, staticcheck, and that generated files and go.mod are up to date
	@hack/check.sh

.PHONY: tools
tools: bin/sqlc ## Build the pinned development tools into bin/

bin/sqlc bin/controller-gen bin/staticcheck &: hack/tools/go.mod hack/tools/go.sum
	@echo "Building the development tools (the first time takes a minute or two)"
	@CGO_ENABLED=0 go build -C hack/tools -o ../../bin/ tool
	@touch bin/sqlc bin/controller-gen bin/staticcheck

# Go knows better than make what is out of date.
.PHONY: bin/cauri bin/localcluster
bin/cauri:
	@CGO_ENABLED=0 go build -o bin/cauri ./cmd/cauri
bin/localcluster:
	@CGO_ENABLED=0 go build -C hack/localcluster -o ../../bin/localcluster .
