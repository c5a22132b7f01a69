<?php
/**
 * The public checkout API of the stand-in shop as a 10.6 release has it: one
 * product, a cart per token, expected_total ignored (docs/platform III.9).
 */

function standin_cart_token(): string {
	$token = $_SERVER['HTTP_CART_TOKEN'] ?? '';
	return preg_match( '/^[a-z0-9]{8,40}\z/', $token ) ? $token : '';
}

function standin_cart( string $token ): array {
	return (array) get_option( 'standin_cart_' . $token, array( 'quantity' => 0, 'country' => 'US' ) );
}

function standin_cart_body( array $cart ): array {
	$total = $cart['quantity'] * (int) get_option( 'standin_price', 1000 );
	if ( 'GB' === $cart['country'] ) {
		$total = intdiv( $total * 120, 100 );
	}
	return array(
		'items'            => $cart['quantity'] ? array( array( 'id' => 1, 'quantity' => $cart['quantity'] ) ) : array(),
		'items_count'      => $cart['quantity'],
		'billing_address'  => array( 'country' => $cart['country'] ),
		'shipping_address' => array( 'country' => $cart['country'] ),
		'totals'           => array( 'total_price' => (string) $total, 'currency_code' => 'EUR', 'currency_minor_unit' => 2 ),
	);
}

/** A write needs the nonce of the page or the token of a cart. */
function standin_store_nonce() {
	if ( standin_cart_token() ) {
		return null;
	}
	$nonce = $_SERVER['HTTP_NONCE'] ?? '';
	if ( '' === $nonce ) {
		return standin_error( 'missing_nonce', 'Missing the Nonce header.', 401 );
	}
	return wp_verify_nonce( $nonce, 'wc_store_api' ) ? null : standin_error( 'invalid_nonce', 'Nonce is invalid.', 403 );
}

function standin_store_answer( $data, string $token ): WP_REST_Response {
	$response = rest_ensure_response( $data );
	$response->header( 'Nonce', wp_create_nonce( 'wc_store_api' ) );
	$response->header( 'Cart-Token', $token );
	$response->header( 'Cache-Control', 'no-store' );
	return $response;
}

function standin_store( callable $step ): callable {
	return function ( $request ) use ( $step ) {
		if ( 'GET' !== $request->get_method() ) {
			$error = standin_store_nonce();
			if ( $error ) {
				return $error;
			}
		}
		$token = standin_cart_token() ?: bin2hex( random_bytes( 12 ) );
		$cart  = standin_cart( $token );
		foreach ( array( 'billing_address', 'shipping_address' ) as $field ) {
			$cart['country'] = $request[ $field ]['country'] ?? $cart['country'];
		}
		$result = $step( $request, $cart );
		if ( is_wp_error( $result ) ) {
			return $result;
		}
		if ( 'GET' !== $request->get_method() ) {
			update_option( 'standin_cart_' . $token, $cart, false );
		}
		return standin_store_answer( $result, $token );
	};
}

function standin_checkout( $request, array &$cart ) {
	if ( ! $cart['quantity'] ) {
		return standin_error( 'cart_empty', 'Cannot create order from empty cart.', 409 );
	}
	$total  = standin_cart_body( $cart )['totals']['total_price'];
	$placed = (array) get_option( 'standin_placed', array() );
	update_option( 'standin_placed', array_merge( $placed, array( $total ) ) );
	$cart['quantity'] = 0;
	return array( 'order_id' => 9000 + count( $placed ), 'status' => 'processing', 'total' => $total );
}

/** Runs only paths of this API, on the platform's own batch server. */
function standin_store_batch( $request ) {
	foreach ( (array) $request['requests'] as $part ) {
		if ( ! is_array( $part ) || false === stripos( (string) ( $part['path'] ?? '' ), 'wc/store' ) ) {
			return standin_error( 'invalid_path', 'Invalid path provided.', 400 );
		}
	}
	return rest_get_server()->serve_batch_request_v1( $request );
}

function standin_store_routes( string $namespace ): void {
	$read  = fn( $request, array &$cart ) => standin_cart_body( $cart );
	$route = function ( string $path, string $methods, callable $step ) use ( $namespace ) {
		$handler = array( 'methods' => $methods, 'callback' => standin_store( $step ), 'permission_callback' => '__return_true' );
		register_rest_route( $namespace, $path, array( $handler, 'allow_batch' => array( 'v1' => true ) ) );
	};
	$route( '/cart', 'GET', $read );
	$route( '/cart/update-customer', 'POST', $read );
	$route(
		'/cart/add-item',
		'POST',
		function ( $request, array &$cart ) {
			$cart['quantity'] += max( 1, (int) $request['quantity'] );
			return standin_cart_body( $cart );
		}
	);
	$route( '/checkout', 'POST', 'standin_checkout' );
	register_rest_route(
		$namespace,
		'/batch',
		array(
			'methods'             => 'POST',
			'callback'            => 'standin_store_batch',
			'permission_callback' => '__return_true',
			'args'                => array( 'requests' => array( 'type' => 'array', 'required' => true, 'maxItems' => 25 ) ),
		)
	);
}

add_action(
	'rest_api_init',
	function () {
		standin_store_routes( 'wc/store' );
		standin_store_routes( 'wc/store/v1' );
	}
);
