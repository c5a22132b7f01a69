<?php
/**
 * Routes of other plugins: consent, feed troubleshooting, cookie plugin, payment
 * notifications (docs/project/interface E12 to E14), and a visitor's page whose
 * script posts the consent choice. Plugins for the shop have namespaces that begin with
 * the shop's word, and the shop takes its keys there too (docs/platform III.8). The
 * same page loads the core's script wp-api where it is asked to, as a product list does.
 */

const STANDIN_SHOP_PLUGINS = array( 'wc-bookings/v1', 'wc-shipment-tracking/v3', 'wc/gc/v1', 'wc/pos/v1', 'wc-admin' );

function standin_count( string $name ): callable {
	return function () use ( $name ) {
		update_option( 'standin_' . $name, 1 + (int) get_option( 'standin_' . $name, 0 ) );
		return array( 'success' => true );
	};
}

add_action(
	'rest_api_init',
	function () {
		$open = fn( string $methods, callable $callback ) => array(
			'methods'             => $methods,
			'callback'            => $callback,
			'permission_callback' => '__return_true',
		);
		$feed = fn() => array( 'access_token' => 'standin-secret', 'source' => array( 'access_token' => 'standin-secret' ), 'feed' => 'x' );
		register_rest_route( 'complianz/v1', '/track', $open( 'POST', standin_count( 'consent' ) ) );
		register_rest_route( 'wc-stripe/v1', '/webhook', $open( 'POST', standin_count( 'notify' ) ) );
		register_rest_route( 'feed', '/troubleshooting', $open( 'GET', $feed ) );
		register_rest_route( 'cookie/v1', '/store-auth', $open( 'POST', standin_count( 'auth' ) ) );
		register_rest_route( 'cookie/v1', '/upload-logo', $open( 'POST', standin_count( 'logo' ) ) );
		foreach ( STANDIN_SHOP_PLUGINS as $namespace ) {
			register_rest_route(
				$namespace,
				'/items',
				array(
					'methods'             => 'GET',
					'callback'            => fn() => array( array( 'id' => 1 ) ),
					'permission_callback' => standin_may( 'view', 'Sorry, you cannot list resources.' ),
				)
			);
		}
	}
);

add_shortcode(
	'standin_consent',
	function () {
		$url = esc_js( rest_url( 'complianz/v1/track' ) );
		return '<button id="consent">Accept</button> <span id="consent-state">asked</span><script>
document.getElementById("consent").onclick = async () => {
	const answer = await fetch("' . $url . '", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({choice: "all"})});
	document.getElementById("consent-state").textContent = "answer " + answer.status;
};
</script>';
	}
);

add_action(
	'wp_enqueue_scripts',
	function () {
		if ( isset( $_GET['standin_wp_api'] ) ) {
			wp_enqueue_script( 'wp-api' );
		}
	}
);

// How long a login lasts, in seconds.
add_filter( 'auth_cookie_expiration', fn( $seconds ) => (int) ( $_POST['standin_life'] ?? $seconds ) );
