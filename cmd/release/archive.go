package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// file is one of an archive.
type file struct {
	name string
	text []byte
	mode fs.FileMode
}

// writeTar writes a compressed archive in which all files lie below dir, belong to root, and
// have one time.
func writeTar(to, dir string, files []file, at time.Time) error {
	return create(to, func(w io.Writer) error {
		zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		archive := tar.NewWriter(zipped)
		for _, f := range files {
			header := &tar.Header{
				Typeflag: tar.TypeReg, Name: path.Join(dir, f.name), Size: int64(len(f.text)), Mode: int64(f.mode), ModTime: at,
				Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
			}
			if err := archive.WriteHeader(header); err != nil {
				return err
			}
			if _, err := archive.Write(f.text); err != nil {
				return err
			}
		}
		return errors.Join(archive.Close(), zipped.Close())
	})
}

// writeZip writes the same as a zip file.
func writeZip(to, dir string, files []file, at time.Time) error {
	return create(to, func(w io.Writer) error {
		archive := zip.NewWriter(w)
		for _, f := range files {
			header := &zip.FileHeader{Name: path.Join(dir, f.name), Method: zip.Deflate, Modified: at}
			header.SetMode(f.mode)
			part, err := archive.CreateHeader(header)
			if err != nil {
				return err
			}
			if _, err := part.Write(f.text); err != nil {
				return err
			}
		}
		return archive.Close()
	})
}

// create makes a file for everybody to read and has write fill it.
func create(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // for everybody
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
