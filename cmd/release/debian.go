package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5" //nolint:gosec // the sums by which dpkg --verify finds broken files
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

//go:embed debian
var debian embed.FS

// docDir is where Debian keeps what is to be read about a package.
const docDir = "usr/share/doc/caddy-restwarden"

// installed are files of the package that are as they stand here.
var installed = []struct {
	from, to string
	mode     fs.FileMode
}{
	{"restwarden.conf", "usr/lib/systemd/system/caddy.service.d/restwarden.conf", 0o644},
	{"restwarden.env", "etc/caddy/restwarden.env", 0o600}, // for secrets
	{"lintian-overrides", "usr/share/lintian/overrides/caddy-restwarden", 0o644},
	{"copyright", docDir + "/copyright", 0o644},
	{"README.Debian", docDir + "/README.Debian", 0o644},
}

// debianPackage builds the Debian package for a processor, as Debian names it, which is as
// Go does for those of systems.
func (r *release) debianPackage(ctx context.Context, arch, program string) error {
	tree := filepath.Join(r.work, "debian-"+arch)
	files, err := r.debianFiles(ctx, program)
	if err != nil {
		return err
	}
	control, err := r.controlFiles(arch, files)
	if err != nil {
		return err
	}
	for _, f := range append(files, control...) {
		path := filepath.Join(tree, filepath.FromSlash(f.name))
		// the umask must not decide what the package's files may be used for
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // directories of a package
			return err
		}
		if err := os.WriteFile(path, f.text, f.mode); err != nil {
			return err
		}
		if err := os.Chmod(path, f.mode); err != nil {
			return err
		}
	}
	if err := plainDirectories(tree); err != nil {
		return err
	}
	// a "~" of the version would be lost on the way: GitHub renames such files
	name := "caddy-restwarden_" + strings.TrimPrefix(r.version, "v") + "_" + arch + ".deb"
	// gzip: xz takes a minute for a sixth less
	_, err = command(ctx, r.work, r.clock(), "dpkg-deb", "-Zgzip", "-z6", "--root-owner-group", "--build", tree, filepath.Join(r.dir, name))
	return err
}

// plainDirectories gives all directories the mode that Debian's have.
func plainDirectories(tree string) error {
	return filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o755) //nolint:gosec // a directory of a package
	})
}

// debianFiles are the files that the package installs.
func (r *release) debianFiles(ctx context.Context, program string) ([]file, error) {
	caddy, err := os.ReadFile(program) //nolint:gosec // just built
	if err != nil {
		return nil, err
	}
	files := []file{
		{name: "usr/bin/caddy", text: caddy, mode: 0o755},
		{name: docDir + "/THIRD-PARTY-LICENSES.gz", text: zipped(r.licenses), mode: 0o644},
	}
	for _, f := range installed {
		text, err := debian.ReadFile("debian/" + f.from)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: f.to, text: text, mode: f.mode})
	}
	example, err := os.ReadFile(filepath.Join(r.root, "Caddyfile.example"))
	if err != nil {
		return nil, err
	}
	files = append(files, file{name: docDir + "/examples/Caddyfile", text: example, mode: 0o644})
	news := fmt.Sprintf("caddy-restwarden (%s) stable; urgency=medium\n\n  * See CHANGELOG.md in the repository.\n\n -- %s  %s\n",
		debianVersion(r.version), maintainer, r.time.Format(time.RFC1123Z))
	files = append(files, file{name: docDir + "/changelog.gz", text: zipped([]byte(news)), mode: 0o644})
	return r.withManuals(ctx, files)
}

// maintainer is whom Debian's tools name for the package. Reports go to the repository.
const maintainer = "RestWarden maintainers <restwarden@users.noreply.github.com>"

func (r *release) withManuals(ctx context.Context, files []file) ([]file, error) {
	dir, err := r.manualPages(ctx)
	if err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "caddy-restwarden*.8"))
	if err != nil || len(pages) == 0 {
		return nil, fmt.Errorf("caddy wrote no manual page of restwarden: %w", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page) //nolint:gosec // just written
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: "usr/share/man/man8/" + filepath.Base(page) + ".gz", text: zipped(text), mode: 0o644})
	}
	return files, nil
}

// controlFiles are what dpkg itself reads.
func (r *release) controlFiles(arch string, files []file) ([]file, error) {
	size := 0
	var sums, conffiles bytes.Buffer
	for _, f := range files {
		size += len(f.text)
		_, _ = fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.text), f.name) //nolint:gosec // see above
		if strings.HasPrefix(f.name, "etc/") {
			_, _ = fmt.Fprintln(&conffiles, "/"+f.name)
		}
	}
	text, err := debian.ReadFile("debian/control")
	if err != nil {
		return nil, err
	}
	parsed, err := template.New("control").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var control bytes.Buffer
	values := map[string]any{"Version": debianVersion(r.version), "Architecture": arch, "Size": size >> 10, "Maintainer": maintainer}
	if err := parsed.Execute(&control, values); err != nil {
		return nil, err
	}
	found := []file{
		{name: "DEBIAN/control", text: control.Bytes(), mode: 0o644},
		{name: "DEBIAN/md5sums", text: sums.Bytes(), mode: 0o644},
		{name: "DEBIAN/conffiles", text: conffiles.Bytes(), mode: 0o644},
	}
	for _, script := range []string{"preinst", "postinst", "postrm"} {
		text, err := debian.ReadFile("debian/" + script)
		if err != nil {
			return nil, err
		}
		found = append(found, file{name: "DEBIAN/" + script, text: text, mode: 0o755})
	}
	return found, nil
}

// debianVersion is a version in Debian's order: v1.0.0-rc.1 comes before v1.0.0 there, and a
// hyphen would begin Debian's own revision.
func debianVersion(version string) string {
	release, before, is := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	if !is {
		return release
	}
	return release + "~" + strings.ReplaceAll(before, "-", ".")
}

// zipped compresses a text without a name or a time.
func zipped(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails only for a level that there is not
	_, _ = w.Write(text)                                  // to memory
	_ = w.Close()
	return b.Bytes()
}
