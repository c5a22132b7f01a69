module github.com/restwarden/restwarden

go 1.26
