# make run    the example graph in this terminal; without a key it talks to demo agents
# make test   everything that must hold, with what it needs installed first
# make console   build the page of console/web and compare it with what is committed
# make lint   further lints (downloads golangci-lint the first time)
# make test-opencode   ACP against opencode, a real coding agent, offline (installs 400 MB the first time)

# The library, and the example that is a module of its own.
MODULES     := . $(patsubst %/go.mod,%,$(wildcard examples/*/go.mod))
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: run test test-opencode lint deps check tidy fmt vet staticcheck build gotest console

run:
	go run ./examples/graph

test: deps check gotest

lint:
	@set -e; for m in $(MODULES); do echo "lint: $$m"; (cd $$m && go run $(GOLANGCI) run ./...); done

deps:
	@sh .ci/deps

OPENCODE := internal/peers/optional/opencode

test-opencode:
	@[ $(OPENCODE)/node_modules/.package-lock.json -nt $(OPENCODE)/package-lock.json ] || \
		(cd $(OPENCODE) && npm ci --ignore-scripts --no-audit --no-fund)
	LANGROOMS_OPENCODE=1 go test -count=1 -v -run '^TestOpenCode$$' ./delegate/acpagent

# In this order: the cheap checks come first.
check: fmt tidy build vet staticcheck console

fmt:
	@bad=$$(find . -name '*.go' -not -path '*/testdata/*' -not -path '*/node_modules/*' -exec gofmt -l {} +); \
	if [ -n "$$bad" ]; then echo "gofmt: not formatted:"; echo "$$bad"; exit 1; fi; echo "gofmt: ok"

# Each module must stand alone, as its users see it, so without the workspace.
tidy:
	@set -e; for m in $(MODULES); do (cd $$m && GOWORK=off go mod tidy -diff); echo "tidy: $$m ok"; done
	@cp go.work.sum .work.sum.before; go doc ./exchange >/dev/null; \
	if cmp -s go.work.sum .work.sum.before; then rm .work.sum.before; echo "tidy: go.work.sum ok"; else \
	mv .work.sum.before go.work.sum; echo "tidy: go.work.sum is not complete: go doc changes it"; exit 1; fi

# Without -o a module of one program would leave it in its folder.
build:
	@set -e; for m in $(MODULES); do (cd $$m && go build -o /dev/null ./...); echo "build: $$m ok"; done

vet:
	@set -e; for m in $(MODULES); do (cd $$m && go vet ./...); echo "vet: $$m ok"; done

staticcheck:
	@set -e; for m in $(MODULES); do (cd $$m && go run $(STATICCHECK) ./...); echo "staticcheck: $$m ok"; done

# The page's assets are committed; where Node is there, they are built anew and must be the same.
console:
	@if [ -d console/web/node_modules ]; then before=$$(git status --porcelain console/dist); \
	(cd console/web && npm run --silent build >/dev/null) && [ "$$(git status --porcelain console/dist)" = "$$before" ] && echo "console: ok" || \
	{ echo "console: console/dist is not what console/web builds; commit it"; exit 1; }; \
	else echo "console: not built, npm is not there"; fi

gotest:
	@set -e; for m in $(MODULES); do echo "test: $$m"; (cd $$m && go test -race -shuffle=on -count=1 -timeout 25m ./...); done
