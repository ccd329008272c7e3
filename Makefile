# Cauri. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Recipes read the variables of users from their environment, where make puts those of its command line too: within a recipe, the shell
# would run what a value has of its own syntax.

# All is compiled in one way, that of the image, so that what was compiled for one purpose serves the others: on an empty cache that is
# most of the time. The race detector alone needs C, without which the tests run without it, and compiles everything once more, Kubernetes'
# libraries too: it is for the packages that move money, and with RACE=all for all.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath $(filter-out -trimpath,$(shell go env GOFLAGS))
export RACE ?= ./server/...

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / { \
	  line = sprintf("  make %-14s", $$1); n = split($$2, word, " "); \
	  for (i = 1; i <= n; i++) { \
	    if (length(line " " word[i]) > 119) { print line; line = sprintf("%21s", "") } \
	    line = line " " word[i] \
	  } \
	  print line }' $(MAKEFILE_LIST)

##@ Running

.PHONY: up
up: build ## Start the whole system on this machine, with a sample sandbox (CAURI_API_PORT, default 8080)
	@bin/localcluster up

.PHONY: down
down: bin/localcluster ## Stop what `make up` started; the data stays
	@bin/localcluster down

.PHONY: clean
clean: bin/localcluster ## Stop what `make up` started and remove its data and the built programs
	@bin/localcluster down --purge
	@rm -rf bin

.PHONY: status
status: bin/localcluster ## Show which processes run
	@bin/localcluster status

##@ Developing

.PHONY: build
build: bin/cauri bin/localcluster ## Build bin/cauri and bin/localcluster

.PHONY: test
test: build bin/helm ## Run all tests; RACE=all uses the race detector everywhere and not in ./server only
	@echo "Unit tests, tests on a real Postgres and a real Kubernetes API server, end-to-end tests"
	@bin/localcluster pgbouncer >/dev/null
	@bin/localcluster nodejs >/dev/null
	@bin/localcluster jq >/dev/null
	@KUBEBUILDER_ASSETS="$$(bin/localcluster assets)" && export KUBEBUILDER_ASSETS CAURI_TEST_PROGRAM="$(CURDIR)/bin/cauri" && \
	  bin/localcluster postgres --no-fsync -- hack/test.sh $${RACE/all/./...}
	@cd hack/localcluster && go test -vet=off ./...
	@cd hack/images && go test -vet=off -count=1 . # it reads files that Go's cache of test results does not know of
	@echo "All tests passed. Next: \`make up\` runs the whole system on this machine."

# No processes but Postgres, PgBouncer and Kubernetes' API server, and no race detector. SLOWEST are the tests with many rows, of every call
# under every fault, and of programs in other languages. Go keeps the results of packages that have not changed.
export SLOWEST := ^Test(ASeedRepeatsEverything|WhatIsOpenEndsWithItsSandbox|EveryFaultOfAnswersOnEveryMTNCall|QuestionBeforeAPayment|$\
ManyEventsAreListedSoon|NoRouteFailsBesideResetsAndRotations|DocsPagesLoadOnlyTheirFiles|FiveThousandHeldAnswers|$\
NoListReadsAnotherTenantsRows|ListsOfEventsReadAPage|WhetherAnythingWasRecorded|ChangesOfALargeBatch|$\
NoSandboxDelaysAnother|NoOperatorDelaysAnother|PoisonedSandboxesFailAlone|PlansHold|PlansDoNotDependOnWhenTheyAreMade|$\
ManyWorkersPurgeOneTenant|FunctionsReadByIndexWhoeverCallsThem|NativeUsersThatLiveAreCounted)$$|$\
^TestEveryExampleOf(ThePage|AnOperatorsPage)Runs$$/^(javascript|python|php|go)

.PHONY: test-fast
test-fast: bin/localcluster ## Run the unit tests, those of the database and of the API, and the columns of resources, for the loop at the desk
	@bin/localcluster pgbouncer >/dev/null
	@KUBEBUILDER_ASSETS="$$(bin/localcluster assets)" && export KUBEBUILDER_ASSETS CAURI_TEST_CACHE=1 && \
	  fast="$$(go list ./api/... ./config/... ./server/... ./cmd/cauri/cli ./hack/reference ./test/architecture ./test/monitoring | tr '\n' ' ')" && \
	  export fast && bin/localcluster postgres --no-fsync -- bash -ec 'go test -vet=off -parallel 6 -skip "$$SLOWEST" $$fast; \
	    go test -vet=off -run "^Test(Columns|ExplainFlows)$$" ./controllers' && \
	  echo "Left out, for \`make test\`: $$SLOWEST, and" $$(go list ./... | grep -vxF "$$(tr ' ' '\n' <<<"$$fast")" | sed 's|^.*/cauri/||')

.PHONY: test-one
test-one: build ## Run the tests of one package with what they need: PKG=./server/ledger, RUN=name selects
	@[ -n "$${PKG-}" ] || { echo 'Name a package: make test-one PKG=./server/ledger RUN=Refund' >&2; exit 2; }
	@KUBEBUILDER_ASSETS="$$(bin/localcluster assets)" && export KUBEBUILDER_ASSETS CAURI_TEST_PROGRAM="$(CURDIR)/bin/cauri" && \
	  bin/localcluster postgres --no-fsync -- go test -vet=off -parallel 4 -count=1 -run "$${RUN-}" "$$PKG"

# A plain `go build` would otherwise compile everything once more, Kubernetes' libraries too.
.PHONY: go-env
go-env: ## Let plain go commands on this machine compile as make does (go env -w); `go env -u CGO_ENABLED GOFLAGS` takes it back
	@go env -w CGO_ENABLED=0 GOFLAGS="$$GOFLAGS"
	@echo "Plain go commands of $$(go env GOENV | sed "s|$$HOME|~|") have CGO_ENABLED=0 and GOFLAGS='$$GOFLAGS' now, for all modules."

.PHONY: faults
faults: bin/localcluster ## Run only the tests that kill, stop and break real processes; RUN=name selects
	@KUBEBUILDER_ASSETS="$$(bin/localcluster assets)" go test -count=1 -v -timeout 60m -run "$${RUN-}" ./test/faults

export ROUNDS ?= 100

.PHONY: chaos
chaos: bin/localcluster ## Break one part after the other under load, with an audit after each: ROUNDS (100), SEED repeats a run, FAULTS='etcd|api killed' selects
	@go build -o bin/chaos ./test/chaos
	@KUBEBUILDER_ASSETS="$$(bin/localcluster assets)" bin/chaos -rounds "$$ROUNDS" -seed "$${SEED:-0}" -faults "$${FAULTS-}"

.PHONY: fuzz
fuzz: ## Fuzz every decoder and parser: FUZZTIME for each (2m), FUZZTIME_MONEY for those that affect money (10m); FUZZ=name selects
	@hack/fuzz.sh

.PHONY: clients
clients: ## Lint the API's description, pay with clients that are generated from it, and run the Postman collection (needs Node.js 20 with npm)
	@command -v node >/dev/null && command -v npm >/dev/null || \
	  { echo 'Node.js 20 or newer and npm are missing. On Debian: apt-get install nodejs npm' >&2; exit 1; }
	@npm ci --prefix test/clients --ignore-scripts --silent
	@CAURI_CLIENTS=1 go test -count=1 -timeout 30m ./test/clients

.PHONY: chart-check
chart-check: bin/helm bin/kube-score bin/localcluster ## Lint the chart by helm, what it renders by kube-score, evaluate its alert rules, and compare what is applied by Argo CD's differ (it takes minutes of CPU to build)
	@hack/chart-check.sh
	@cd hack/alerts && go test -vet=off -count=1 .
	@KUBEBUILDER_ASSETS="$$(bin/localcluster assets)" && export KUBEBUILDER_ASSETS && cd hack/argocd && go test -vet=off -count=1 -timeout 30m .

.PHONY: verify
verify: ## What an issue needs beside .ci/run before it is closed: make clients, chart-check, fuzz, chaos ROUNDS=100, browser, test RACE=all; takes hours
	@$(MAKE) clients
	@$(MAKE) chart-check
	@$(MAKE) fuzz
	@$(MAKE) chaos ROUNDS=100
	@CAURI_TEST_WHOLE=1 $(MAKE) browser
	@CAURI_TEST_WHOLE=1 $(MAKE) test RACE=all

export BENCH_ROUNDS ?= 3
export BENCH_LENGTH ?= 5s
export BENCH_SANDBOXES ?= 10000
export BENCH_JSON ?= bin/bench.json
export SOAK ?= 20m

# The exit code of `go run` would be 1 whatever the program's is.
.PHONY: bin/load
bin/load:
	@go build -o bin/load ./test/load

.PHONY: bench
bench: bin/load bin/localcluster ## Measure everything against its baseline; BENCH=case selects (bin/load -list), BENCH_ROUNDS, BENCH_LENGTH, BENCH_JSON=file, BENCH_PAGE=page.md
	@KUBEBUILDER_ASSETS="$$(bin/localcluster assets)" bin/load -run "$${BENCH-}" -rounds "$$BENCH_ROUNDS" -length "$$BENCH_LENGTH" \
	  -sandboxes "$$BENCH_SANDBOXES" -json "$$BENCH_JSON" $${BENCH_PAGE:+-markdown "$$BENCH_PAGE"}

.PHONY: bench-smoke
bench-smoke: bin/load bin/localcluster ## Run a short bench, two minutes at most: it fails if something is broken, never if something is slow
	@KUBEBUILDER_ASSETS="$$(bin/localcluster assets)" bin/load -smoke -json bin/bench-smoke.json

.PHONY: plot
plot: ## Draw the charts of bin/bench.json into docs/performance
	@go run ./test/load/plot -in bin/bench.json -out docs/performance

.PHONY: profile
profile: bin/load ## Write profiles of api and worker under load, and the most expensive statements, to bin/profiles
	@bin/load profile -out bin/profiles

.PHONY: soak
soak: bin/load ## Run at half of the maximum load for 20 minutes (SOAK=length) and show minute by minute what grows
	@bin/load soak -length "$$SOAK" -json bin/soak.json

##@ Shipping

.PHONY: images
images: bin/image bin/ko ## Build Cauri's image for this machine into bin/images: cauri.tar (cauri.local/cauri:e2e) and cauri-next.tar (:e2e-next)
	@bin/image build --version e2e --out bin/images/cauri.tar
	@bin/image build --version e2e-next --out bin/images/cauri-next.tar

.PHONY: image-check
image-check: bin/image bin/ko ## Build the Dockerfile too (needs buildah and root) and compare both images
	@hack/image-check.sh

.PHONY: release
release: bin/image bin/ko bin/helm bin/localcluster ## Make all files of a release in dist/ from the tag of HEAD; VERSION=v1.2.3-test makes a trial
	@bin/image release --version="$${VERSION-}" $${IMAGE_REPOSITORY:+--image-repository="$$IMAGE_REPOSITORY"} \
	  --kubectl="$$(command -v kubectl || echo "$$(bin/localcluster assets)/kubectl")"

.PHONY: publish
publish: bin/image bin/helm ## Push what `make release` made: IMAGE_REPOSITORY=registry/name CHART_REPOSITORY=registry/charts; SIGN=1 signs it by cosign
	@hack/publish.sh

.PHONY: browser
browser: bin/cauri bin/localcluster ## Test the console in Chromium; RUN=name selects
	@CAURI_CHROMIUM="$$(bin/localcluster chromium)" && export CAURI_CHROMIUM CAURI_TEST_PROGRAM="$(CURDIR)/bin/cauri" && \
	  bin/localcluster postgres --no-fsync -- go test -vet=off -count=1 -parallel 3 -timeout 30m $${RUN:+-run="$$RUN"} ./test/browser

.PHONY: screenshots
screenshots: ## Write pictures of the console's pages into bin/screenshots, and those of the README into docs/images
	@$(MAKE) --no-print-directory browser RUN=TestScreenshots CAURI_SCREENSHOTS="$(CURDIR)/bin/screenshots" CAURI_README_PICTURES="$(CURDIR)/docs/images"

.PHONY: e2e
e2e: browser bin/helm bin/cauri bin/localcluster images bin/images/merchant.tar bin/cluster.test ## Test the console in Chromium, and the chart on a real node on this machine (needs Linux and root); RUN=name selects
	@bin/localcluster images >/dev/null
	@bin/localcluster jq >/dev/null
	@CAURI_E2E=node bin/localcluster node -- bin/cluster.test -test.v -test.timeout=20m $${RUN:+-test.run="$$RUN"} | tee bin/e2e.log || \
	  { echo "What the tests said last, of all in bin/e2e.log:"; grep -A6 '^ *[a-z_]*_test\.go:[0-9]*:' bin/e2e.log | tail -40; exit 1; }

.PHONY: kind
kind: bin/kind bin/helm bin/cauri images bin/images/merchant.tar bin/cluster.test ## Run the tests of `make e2e` on a kind cluster (needs Docker); RUN=name selects, KEEP=1 keeps the cluster
	@KUBECTL_FOLDER="$$(command -v kubectl >/dev/null || bin/localcluster assets)" hack/kind.sh $${RUN:+-test.run="$$RUN"}

bin/kind: hack/tools/go.mod hack/tools/go.sum
	@echo "Building kind"
	@go build -C hack/tools -o ../../bin/ sigs.k8s.io/kind
	@touch bin/kind

.PHONY: generate
generate: tools bin/helm ## Write the generated files again: lists of operators and countries, CRDs, RBAC, deep copies, queries, the console's templates, docs/reference with the commands, docs/postman, the API's page, llms.txt, the chart's files, config/default
	@go run ./hack/markets
	@bin/controller-gen object paths=./api/...
	@bin/controller-gen crd:maxDescLen=1000 paths=./api/... output:crd:artifacts:config=config/crd
	@go run ./hack/crd
	@bin/controller-gen rbac:roleName=cauri-controller paths=./controllers/... output:rbac:artifacts:config=config/rbac
	@go run ./hack/queries
	@bin/sqlc generate
	@cd server/console && ../../bin/templ generate -log-level=error
	@cd server/operators && ../../bin/templ generate -log-level=error
	@go run ./hack/recording
	@go run ./hack/columns
	@go run ./hack/reference
	@go run ./hack/fidelity
	@go run ./hack/causes
	@go run ./hack/chart
	@go run ./hack/apipage
	@go run ./hack/llms
	@go run ./hack/postman
	@go test -vet=off -count=1 -run '^TestCommandPages$$' ./cmd/cauri -update >/dev/null
	@go test -vet=off -count=1 -run '^TestToolsAreListed$$' ./cmd/cauri/mcp -update >/dev/null

.PHONY: format
format: ## Format the Go code
	@gofmt -w $$(git ls-files '*.go')

.PHONY: check
check: tools ## Check format, vet, the linters, and that generated files and go.mod are up to date
	@hack/check.sh

.PHONY: tools
tools: bin/sqlc bin/actionlint ## Build the pinned development tools into bin/

bin/sqlc bin/templ bin/controller-gen bin/staticcheck bin/lint bin/revive bin/windows &: hack/tools/go.mod hack/tools/go.sum $(wildcard hack/tools/lint/*.go hack/tools/windows/*.go)
	@echo "Building the development tools (the first time takes a minute or two)"
	@go build -C hack/tools -o ../../bin/ github.com/sqlc-dev/sqlc/cmd/sqlc github.com/a-h/templ/cmd/templ sigs.k8s.io/controller-tools/cmd/controller-gen \
	  honnef.co/go/tools/cmd/staticcheck ./lint ./windows github.com/mgechev/revive
	@touch bin/sqlc bin/templ bin/controller-gen bin/staticcheck bin/lint bin/revive bin/windows

bin/helm: hack/tools/go.mod hack/tools/go.sum
	@echo "Building helm (the first time takes a minute or two)"
	@go build -C hack/tools -o ../../bin/ helm.sh/helm/v4/cmd/helm
	@touch bin/helm

bin/ko: hack/tools/go.mod hack/tools/go.sum
	@echo "Building ko (the first time takes a minute or two)"
	@go build -C hack/tools -o ../../bin/ github.com/google/ko
	@touch bin/ko

bin/actionlint: hack/tools/actionlint/go.mod hack/tools/actionlint/go.sum
	@go build -C hack/tools/actionlint -o ../../../bin/ github.com/rhysd/actionlint/cmd/actionlint
	@touch bin/actionlint

bin/kube-score: hack/tools/kubescore/go.mod hack/tools/kubescore/go.sum
	@echo "Building kube-score (the first time takes a minute or two)"
	@go build -C hack/tools/kubescore -o ../../../bin/ github.com/zegl/kube-score/cmd/kube-score
	@touch bin/kube-score

# Go knows better than make what is out of date.
.PHONY: bin/cauri bin/localcluster bin/image bin/cluster.test bin/images/merchant.tar
bin/cauri:
	@go build -tags=grpcnotrace -o bin/cauri ./cmd/cauri
bin/localcluster:
	@go build -C hack/localcluster -o ../../bin/localcluster .
bin/image:
	@go build -C hack/images -o ../../bin/image .

# What `make e2e` and `make kind` run: the tests as a program, and an image with a merchant and the shop of examples/go-shop.
bin/cluster.test:
	@go test -c -o bin/cluster.test ./test/cluster
bin/images/merchant.tar: bin/localcluster
	@mkdir -p bin/images && GOOS=linux go build -o bin/merchant ./test/cluster/merchant && GOOS=linux go build -C examples/go-shop -o ../../bin/shop .
	@bin/localcluster image --name cauri.local/merchant:e2e --entrypoint /merchant --user 65532:65532 -o bin/images/merchant.tar bin/merchant:/merchant bin/shop:/shop
