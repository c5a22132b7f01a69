<?php
/**
 * Records of the stand-in shop: orders and subscriptions in one table, as in the
 * shop's own order storage (docs/platform III.1).
 */

const STANDIN_ORDER        = 'shop_order';
const STANDIN_SUBSCRIPTION = 'shop_subscription';

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
