<?php
/**
 * Records of the stand-in shop: orders and subscriptions in one table, as in the
 * shop's own order storage (docs/platform III.1).
 */

const STANDIN_ORDER        = 'shop_order';
const STANDIN_SUBSCRIPTION = 'shop_subscription';

/** A shop key that acts for an administrator, as "key:secret". */
const STANDIN_KEY = 'ck_standin:cs_standin';

function standin_table(): string {
	return $GLOBALS['wpdb']->prefix . 'standin_records';
}

function standin_record( $id ): ?array {
	global $wpdb;
	return $wpdb->get_row( $wpdb->prepare( 'SELECT * FROM ' . standin_table() . ' WHERE id = %d', (int) $id ), ARRAY_A );
}

function standin_is( $id, string $type ): bool {
	return ( standin_record( $id )['type'] ?? '' ) === $type;
}

function standin_body( array $record ): array {
	$record['id'] = (int) $record['id'];
	return $record + array( 'line_items' => array(), 'meta_data' => array() );
}

function standin_error( string $code, string $message, int $status ): WP_Error {
	return new WP_Error( 'woocommerce_rest_' . $code, $message, array( 'status' => $status ) );
}

/** What the shop's permission checks ask; an editor may write orders and not read them (docs/platform III.1). */
function standin_may( string $action, string $message ): callable {
	$capability = 'edit' === $action ? 'edit_others_posts' : 'read_private_shop_orders';
	return function () use ( $action, $capability, $message ) {
		if ( current_user_can( $capability ) ) {
			return true;
		}
		return standin_error( 'cannot_' . $action, $message, rest_authorization_required_code() );
	};
}

// The shop takes a request for its own by the raw text in the URI: its namespaces,
// and those of plugins for it (docs/platform III.8).
function standin_is_shop() {
	return 1 === preg_match( '#wp-json/wc[/-]#', $_SERVER['REQUEST_URI'] ?? '' );
}

// A shop key counts there.
add_filter(
	'determine_current_user',
	function ( $user ) {
		$basic = ( $_SERVER['PHP_AUTH_USER'] ?? '' ) . ':' . ( $_SERVER['PHP_AUTH_PW'] ?? '' );
		$query = ( $_GET['consumer_key'] ?? '' ) . ':' . ( $_GET['consumer_secret'] ?? '' );
		if ( ! $user && standin_is_shop() && in_array( STANDIN_KEY, array( $basic, $query ), true ) ) {
			return (int) get_option( 'standin_key_user' );
		}
		return $user;
	},
	15
);

// Outside its own namespaces the shop makes WordPress ask who is calling before
// it looks for errors: only so a wrong application password is told, as
// "incorrect_password" (docs/platform III.8); without it the caller is nobody.
add_filter(
	'rest_authentication_errors',
	function ( $result ) {
		if ( ! standin_is_shop() ) {
			wp_get_current_user();
		}
		return $result;
	},
	15
);
