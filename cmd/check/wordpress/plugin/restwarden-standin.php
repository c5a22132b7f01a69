<?php
/**
 * Plugin Name: RestWarden stand-ins
 * Description: What the checks need on the real REST server and Debian does not package. For test sites only.
 */

if ( isset( $_SERVER['STANDIN_LOCKDOWN'] ) ) { // in place of all others, which would cost time
	require __DIR__ . '/restwarden-standin/lockdown.php';
	add_filter( 'pre_http_request', fn() => new WP_Error( 'standin_offline', 'No outgoing requests.' ) );
	return;
}
require __DIR__ . '/restwarden-standin/report.php';
require __DIR__ . '/restwarden-standin/early.php';
if ( isset( $_SERVER['STANDIN_CATALOGUE'] ) ) { // in place of the others
	require __DIR__ . '/restwarden-standin/catalogue.php';
	add_filter( 'option_active_plugins', '__return_empty_array' );
	add_filter( 'pre_http_request', fn() => new WP_Error( 'standin_offline', 'No outgoing requests.' ) );
	return;
}
require __DIR__ . '/restwarden-standin/shop-data.php';
require __DIR__ . '/restwarden-standin/shop-keys.php';
require __DIR__ . '/restwarden-standin/shop-orders.php';
require __DIR__ . '/restwarden-standin/shop-sub.php';
require __DIR__ . '/restwarden-standin/shop-tools.php';
require __DIR__ . '/restwarden-standin/store.php';
require __DIR__ . '/restwarden-standin/plugins.php';
require __DIR__ . '/restwarden-standin/misread.php';
require __DIR__ . '/restwarden-standin/conditions.php';
if ( isset( $_SERVER['STANDIN_AGENTS'] ) ) {
	require __DIR__ . '/restwarden-standin/agents.php';
}

// A copy of somebody's site may have the plugins that these stand in for.
add_filter(
	'option_active_plugins',
	fn( $plugins ) => array_values( array_filter( (array) $plugins, fn( $p ) => ! preg_match( '#^(woocommerce|complianz|cookie)#', $p ) ) )
);

// Nothing outside this machine answers, and the editor must not wait for it.
add_filter( 'should_load_remote_block_patterns', '__return_false' );
add_filter( 'pre_http_request', fn() => new WP_Error( 'standin_offline', 'No outgoing requests.' ) );
add_filter( 'pre_wp_mail', '__return_true' );

// Where the clock stands still, posts of one run have the dates of any other.
function standin_dates( $data ) {
	$now = get_option( 'standin_clock' );
	return $now ? array_merge( $data, array_fill_keys( array( 'post_date', 'post_date_gmt', 'post_modified', 'post_modified_gmt' ), $now ) ) : $data;
}
add_filter( 'wp_insert_post_data', 'standin_dates' );
add_filter( 'wp_insert_attachment_data', 'standin_dates' );
