// Package wordpress proves the gateway in front of the real platform: WordPress
// itself from Debian's packages, behind php-fpm and Apache, in a sub-folder and
// with plain permalinks, and in a browser. Its tests need the build tag wordpress;
// docs/project/wordpress.md describes them.
package wordpress
