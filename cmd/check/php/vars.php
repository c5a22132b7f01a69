<?php
// Prints what PHP has made of the request: $_GET, $_POST, the names in $_FILES,
// and the body as WordPress parses one that PHP leaves alone (wp_parse_str).
$raw = array();
if ( 'PUT' === $_SERVER['REQUEST_METHOD'] ) {
	parse_str( file_get_contents( 'php://input' ), $raw );
}
foreach ( array( $_GET, $_POST, array_keys( $_FILES ), $raw ) as $value ) {
	$text = serialize( $value );
	echo strlen( $text ), ':', $text;
}
