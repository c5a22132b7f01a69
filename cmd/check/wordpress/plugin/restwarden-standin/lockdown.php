<?php
/**
 * Stands in for a plugin that closes REST to callers without a login, and does nothing else.
 */

add_filter(
	'rest_authentication_errors',
	fn( $result ) => null === $result && ! is_user_logged_in()
		? new WP_Error( 'standin_locked', 'For users only.', array( 'status' => 401 ) )
		: $result
);
