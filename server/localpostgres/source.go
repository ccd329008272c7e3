package localpostgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Source finds the server programs on this machine, or downloads them once.
type Source struct {
	// URL is the URL of an npm registry, or of a mirror. If it is empty, the URL in npm's configuration is used.
	URL string
	// Say tells the user about a download. Its arguments are those of [fmt.Printf].
	Say func(format string, args ...any)
	// Cache is the folder of downloads. If it is empty, the user's cache is used, or the system's cache for root.
	Cache string

	releases map[int]release                                        // default [published]
	find     func(ctx context.Context, major int) (Programs, error) // default [Find]
}

// archive is a package with the programs for one platform.
type archive struct {
	name   string
	sha256 string // in hexadecimal
}

// release is a published release of the programs, with its packages for each GOOS/GOARCH.
type release struct {
	version  string
	packages map[string]archive
}

const (
	archiveScope = "@embedded-postgres"
	archiveMajor = 17 // for new data
)

// published has a release of each major version that Cauri supports. The sums are the SHA-256 sums of the published
// files. The SHA-512 sum of each file was compared with the registry's. The Linux packages need glibc, and do not run
// with musl.
var published = map[int]release{
	15: {"15.18.0-beta.17", map[string]archive{
		"linux/amd64":  {"linux-x64", "6f52b7139cbbd6e5a354c4213a6993b6d400f17a90f21bc9ed4ca38b230cc182"},
		"linux/arm64":  {"linux-arm64", "e91f214f16f8d54b22c8c424640f869131e46963218716a76a5645803b320f9c"},
		"darwin/amd64": {"darwin-x64", "d0c9c6df964e9099be44742a053290cb93fa3df5eec32813de7fefe8e3fec365"},
		"darwin/arm64": {"darwin-arm64", "a7963cba9e482742180c7f52ff626198d48fce10578cd998f4f48af11ba8fe92"},
	}},
	16: {"16.14.0-beta.17", map[string]archive{
		"linux/amd64":  {"linux-x64", "dfe7ecd8365ab907786e5f3d69179399f9675ac800153219efb2590257c2d551"},
		"linux/arm64":  {"linux-arm64", "6802bdb96c200de808f33d6cc4a0171c14110fc4af2f71155f14b8be56dd83aa"},
		"darwin/amd64": {"darwin-x64", "d34a2c3cf770fe87b8dd9cb5a2ed15994875b019be99b54dc8fe56ed0b7e8f25"},
		"darwin/arm64": {"darwin-arm64", "2f34fdd389258e6d79fbce1ea97928b88ce01c8178d77d2bb4c28ddc5ee13d22"},
	}},
	17: {"17.10.0-beta.17", map[string]archive{
		"linux/amd64":  {"linux-x64", "5bad48012c3a7415c06310f632ce9a0f9da20dadb70e774e4985c2f416a4445b"},
		"linux/arm64":  {"linux-arm64", "c235902b8f75c94bcfa2f2071ef4e3c35e5410b93bed65b1f3a398aaa8ef880a"},
		"darwin/amd64": {"darwin-x64", "b87b4b4394fa00c249d5f87cf446e56a00901d3f11367318f9141ce0059afd24"},
		"darwin/arm64": {"darwin-arm64", "41fa2aa47ec3ae7c8692719881c6bdb8376365dd417673b37ffe8281f28f7064"},
	}},
	18: {"18.4.0-beta.17", map[string]archive{
		"linux/amd64":  {"linux-x64", "795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2"},
		"linux/arm64":  {"linux-arm64", "5c2c5ba809d0f47d1bebaf46c2ea01e1fe7017beb28618e009016500107f9cea"},
		"darwin/amd64": {"darwin-x64", "cd6fde78af989a5ebb6eb863655471f9536af7d0b0778a729f9e297221a661e7"},
		"darwin/arm64": {"darwin-arm64", "1f68ab0148346d99e045a54497f72fa22f487618c97ca70fa373441d1ab1a4d3"},
	}},
}

const (
	// archiveLimit bounds a package, which has about 24 MB.
	archiveLimit = 64 << 20
	// fetchTimeout bounds the download.
	fetchTimeout = 10 * time.Minute
	// downloadsVariable is the environment variable that turns downloads off.
	downloadsVariable = "CAURI_DOWNLOADS"
)

// URLVariable is the environment variable that usually sets [Source.URL].
const URLVariable = "CAURI_POSTGRES_URL"

// Programs returns the machine's newest programs for data of a major version. The version 0 means new data. If there
// are none, it downloads programs. If it cannot, it returns [ErrNoPrograms] with the reason.
func (s Source) Programs(ctx context.Context, major int) (Programs, error) {
	find := s.find
	if find == nil {
		find = Find
	}
	found, err := find(ctx, major)
	if err == nil {
		return found, nil
	}
	r := s.known()[cmp.Or(major, archiveMajor)]
	a, known := r.packages[runtime.GOOS+"/"+runtime.GOARCH]
	if !known {
		return Programs{}, err
	}
	folder, cacheErr := s.cacheFolder()
	if cacheErr != nil {
		return Programs{}, errors.Join(err, cacheErr)
	}
	if checkErr := CheckFolder(folder, os.Geteuid()); checkErr != nil && !errors.Is(checkErr, fs.ErrNotExist) {
		return Programs{}, fmt.Errorf("%w, and no downloaded ones are used: %w", err, checkErr)
	}
	folder = filepath.Join(folder, "postgres-"+a.name+"-"+r.version)
	if _, statErr := os.Stat(folder); errors.Is(statErr, fs.ErrNotExist) {
		if fetchErr := s.fetch(ctx, r.version, a, folder); fetchErr != nil {
			return Programs{}, fmt.Errorf("%w, and they could not be downloaded: %w", err, fetchErr)
		}
	}
	found, err = programsIn(ctx, filepath.Join(folder, "bin"))
	if err != nil {
		return Programs{}, fmt.Errorf("%w, and the downloaded ones in %s do not run here: %w", ErrNoPrograms, folder, err)
	}
	return found, nil
}

func (s Source) known() map[int]release {
	if s.releases != nil {
		return s.releases
	}
	return published
}

// cacheFolder returns the folder of downloads. Root runs the programs as another user, who cannot read root's own
// cache.
func (s Source) cacheFolder() (string, error) {
	if s.Cache != "" {
		return s.Cache, nil
	}
	if os.Geteuid() == 0 {
		return "/var/cache/cauri", nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "cauri"), err
}

// fetch downloads an archive, checks its sum, and unpacks it into a folder. It renames the folder when it is complete.
func (s Source) fetch(ctx context.Context, version string, a archive, folder string) error {
	switch value := os.Getenv(downloadsVariable); value {
	case "", "on":
	case "off":
		return errors.New(downloadsVariable + "=off forbids downloads")
	default:
		return fmt.Errorf("%s=%s: write on or off", downloadsVariable, value)
	}
	registry, err := s.registry(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	partial, err := os.MkdirTemp(filepath.Dir(folder), ".partial-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(partial) }()
	at := registry.JoinPath(archiveScope, a.name, "-", a.name+"-"+version+".tgz")
	major, _, _ := strings.Cut(version, ".")
	s.Say("This machine has no Postgres %s. Downloading its programs once, 24 MB: %s", major, at.Redacted())
	file := filepath.Join(partial, "archive.tgz")
	if err := download(ctx, at, file, a.sha256); err != nil {
		return err
	}
	programs := filepath.Join(partial, "programs")
	if err := unpack(file, programs); err != nil {
		return fmt.Errorf("unpacking %s: %w", at.Redacted(), err)
	}
	if err := os.Rename(programs, folder); err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been faster
		return err
	}
	return nil
}

// registry returns the URL of the registry of packages. No URL is built in: npm's configuration has one, perhaps that
// of the company.
func (s Source) registry(ctx context.Context) (*url.URL, error) {
	address := cmp.Or(s.URL, os.Getenv("npm_config_registry"), os.Getenv("NPM_CONFIG_REGISTRY"))
	if address == "" {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		output, err := exec.CommandContext(ctx, "npm", "config", "get", "registry").Output()
		if err != nil {
			return nil, errors.New("npm, which knows a package registry, is not installed; " + URLVariable + " can name one")
		}
		address = strings.TrimSpace(string(output))
	}
	found, err := url.Parse(address)
	if err != nil || found.Host == "" || found.User != nil && strings.Contains(found.EscapedPath(), "@") {
		return nil, errors.New("the address of the package registry is no URL: write https://host/path in " + URLVariable)
	}
	return found, nil
}

// download downloads a file. It returns an error if the SHA-256 of the file is not the parameter sum.
func download(ctx context.Context, at *url.URL, path, sum string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s was answered with %s", at.Redacted(), response.Status)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	got, err := copyAndSum(file, io.LimitReader(response.Body, archiveLimit))
	if err = cmp.Or(err, file.Close()); err != nil {
		return fmt.Errorf("downloading %s: %w", at.Redacted(), err)
	}
	if got != sum {
		return fmt.Errorf("%s has the SHA-256 sum %s instead of %s: it was not used", at.Redacted(), got, sum)
	}
	return nil
}
