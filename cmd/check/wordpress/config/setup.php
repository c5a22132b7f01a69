<?php
/**
 * Installs WordPress and fills it with what the checks need. Arguments: directory
 * of WordPress, permalink structure, host. Prints what the checks must know as JSON.
 */

list( , $dir, $permalinks, $host ) = $argv;
$_SERVER['HTTP_HOST']   = $host;
$_SERVER['REQUEST_URI'] = '/';
define( 'WP_INSTALLING', true );

function wp_new_blog_notification() {}

require $dir . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';

const PASSWORD = 'standin password 42';
if ( ! is_blog_installed() ) {
	wp_install( 'Stand-in shop', 'standin_administrator', 'standin_administrator@example.test', true, '', PASSWORD );
	update_option( 'blogdescription', 'RestWarden' );
}
if ( wp_is_block_theme() ) { // it has no widgets screen
	update_option( 'template', 'twentytwentyone' );
	update_option( 'stylesheet', 'twentytwentyone' );
}
update_option( 'permalink_structure', $permalinks );
update_option( 'rewrite_rules', '' );

$manager = array( 'read' => true, 'read_private_shop_orders' => true, 'edit_others_posts' => true );
add_role( 'shop_manager', 'Shop manager', $manager );
get_role( 'administrator' )->add_cap( 'read_private_shop_orders' );

$accounts = array();
foreach ( array( 'administrator', 'shop_manager', 'editor', 'author', 'subscriber' ) as $role ) {
	$login = 'standin_' . $role;
	$user  = get_user_by( 'login', $login );
	$id    = $user ? $user->ID : wp_insert_user(
		array( 'user_login' => $login, 'user_pass' => PASSWORD, 'user_email' => "$login@example.test", 'role' => $role )
	);
	if ( is_wp_error( $id ) ) {
		fwrite( STDERR, "$login: " . $id->get_error_message() . "\n" );
		exit( 1 );
	}
	list( $secret, $item ) = WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'check' ) );
	$accounts[ $role ] = array( 'id' => $id, 'login' => $login, 'password' => PASSWORD, 'application' => $secret, 'uuid' => $item['uuid'] );
	update_user_meta( $id, 'show_welcome_panel', 0 );
}
update_option( 'standin_key_user', $accounts['administrator']['id'] );

global $wpdb;
$wpdb->query(
	'CREATE TABLE ' . standin_table() . " (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, type VARCHAR(20) NOT NULL,
	status VARCHAR(20) NOT NULL, customer_note TEXT NOT NULL) DEFAULT CHARSET utf8mb4"
);
$orders        = range( 101, 140 );
$subscriptions = range( 201, 240 );
foreach ( array( STANDIN_ORDER => $orders, STANDIN_SUBSCRIPTION => $subscriptions ) as $type => $ids ) {
	foreach ( $ids as $id ) {
		$status = STANDIN_ORDER === $type ? 'pending' : 'active';
		$wpdb->insert( standin_table(), compact( 'id', 'type', 'status' ) + array( 'customer_note' => '' ) );
	}
}
$wpdb->query( 'ALTER TABLE ' . standin_table() . ' AUTO_INCREMENT = 1000' );

$page = wp_insert_post(
	array( 'post_type' => 'page', 'post_status' => 'publish', 'post_title' => 'Visitors', 'post_content' => '[standin_consent]', 'post_author' => $accounts['administrator']['id'] )
);
$post = wp_insert_post(
	array( 'post_status' => 'publish', 'post_title' => 'By the author', 'post_content' => 'Text.', 'post_author' => $accounts['author']['id'] )
);

echo json_encode(
	array( 'release' => $GLOBALS['wp_version'] ) + compact( 'accounts', 'orders', 'subscriptions', 'page', 'post' )
);
