<?php
/**
 * Abilities and their REST routes. The colliding pair lab/a-b and lab-a/b is one tool name.
 */

class Standin_Ability {
	public string $name;
	public ?array $schema     = array( 'type' => 'object' ); // of the input; null where it takes none
	public array $annotations = array( 'readonly' => false, 'destructive' => false, 'idempotent' => false );
	public bool $in_rest      = true;
	public bool $public_mcp   = true;
	public string $type       = 'tool'; // or resource, prompt
	public string $capability = 'read'; // '' is anybody

	public function __construct( string $name, array $fields = array() ) {
		$this->name = $name;
		foreach ( $fields as $field => $value ) {
			$this->$field = 'annotations' === $field ? $value + $this->annotations : $value;
		}
	}

	public function may(): bool {
		return '' === $this->capability || current_user_can( $this->capability );
	}

	/** Why the input does not fit the schema, or null. */
	public function misfit( $input ): ?string {
		if ( null === $this->schema ) {
			return null === $input ? null : 'Ability takes no input.';
		}
		$valid = rest_validate_value_from_schema( $input, $this->schema, 'input' );
		return is_wp_error( $valid ) ? $valid->get_error_message() : null;
	}

	/** Returns the result, or a WP_Error where nothing ran. */
	public function execute( $input ) {
		$misfit = $this->misfit( $input );
		if ( null !== $misfit ) {
			return new WP_Error( 'ability_invalid_input', $misfit, array( 'status' => 400 ) );
		}
		if ( ! $this->may() ) {
			return new WP_Error( 'ability_invalid_permissions', 'Ability does not have necessary permission.', array( 'status' => 403 ) );
		}
		standin_ran( $this->name, $input );
		return array( 'ran' => $this->name );
	}

	public function method(): string {
		if ( $this->annotations['readonly'] ) {
			return 'GET';
		}
		return $this->annotations['destructive'] && $this->annotations['idempotent'] ? 'DELETE' : 'POST';
	}

	public function described(): array {
		return array(
			'name'          => $this->name,
			'label'         => $this->name,
			'description'   => 'An ability of the stand-in.',
			'category'      => 'lab',
			'input_schema'  => $this->schema ?? array(),
			'output_schema' => array(),
			'meta'          => array( 'annotations' => $this->annotations, 'show_in_rest' => true, 'mcp' => array( 'public' => $this->public_mcp ) ),
		);
	}
}

/** All abilities by their ids, in the order in which they were registered. */
function standin_abilities(): array {
	static $abilities = array();
	if ( $abilities ) {
		return $abilities;
	}
	$item      = array(
		'type'       => 'object',
		'properties' => array(
			'id'   => array( 'type' => 'integer' ),
			'note' => array( 'type' => 'string' ),
			'list' => array( 'type' => 'array' ),
		),
	);
	$strict    = array(
		'type'                 => 'object',
		'properties'           => array( 'id' => array( 'type' => 'integer' ) ),
		'required'             => array( 'id' ),
		'additionalProperties' => false,
	);
	$unlisted  = array( 'in_rest' => false, 'public_mcp' => false );
	$abilities = array();
	foreach (
		array(
			new Standin_Ability( 'lab/read-item', array( 'schema' => $item, 'annotations' => array( 'readonly' => true ) ) ),
			new Standin_Ability( 'lab/write-item', array( 'schema' => $item ) ),
			new Standin_Ability( 'lab/delete-item', array( 'schema' => $item, 'annotations' => array( 'destructive' => true, 'idempotent' => true ) ) ),
			new Standin_Ability( 'lab/strict', array( 'schema' => $strict ) ),
			new Standin_Ability( 'lab/scalar', array( 'schema' => array( 'type' => 'string' ) ) ),
			new Standin_Ability( 'lab/no-input', array( 'schema' => null, 'annotations' => array( 'readonly' => true ) ) ),
			new Standin_Ability( 'lab/hidden', array( 'schema' => $item, 'public_mcp' => false ) ),
			new Standin_Ability( 'lab/secret', array( 'schema' => $item ) + $unlisted ),
			new Standin_Ability( 'lab/admin-only', array( 'schema' => $item, 'capability' => 'manage_options' ) ),
			new Standin_Ability( 'lab/anyone', array( 'schema' => $item, 'capability' => '' ) ),
			new Standin_Ability( 'lab/a-b', array( 'schema' => $item ) ),
			new Standin_Ability( 'lab-a/b', array( 'schema' => $item ) ),
			new Standin_Ability( 'lab/doc', array( 'schema' => null, 'type' => 'resource' ) ),
			new Standin_Ability( 'lab/ask', array( 'type' => 'prompt' ) ),
		) as $ability
	) {
		$abilities[ $ability->name ] = $ability;
	}
	return $abilities;
}

function standin_ability_error( string $code, string $message, int $status ): WP_Error {
	return new WP_Error( $code, $message, array( 'status' => $status ) );
}

function standin_ability( WP_REST_Request $request ) {
	$ability = standin_abilities()[ (string) $request['name'] ] ?? null;
	return $ability && $ability->in_rest
		? $ability
		: standin_ability_error( 'rest_ability_not_found', 'Ability not found.', 404 );
}

/** May run: the method comes first, then the input, then who asks. */
function standin_ability_may_run( WP_REST_Request $request ) {
	$ability = standin_ability( $request );
	if ( is_wp_error( $ability ) ) {
		return $ability;
	}
	if ( $ability->method() !== $request->get_method() ) {
		return standin_ability_error( 'rest_ability_invalid_method', 'This ability requires ' . $ability->method() . '.', 405 );
	}
	$misfit = $ability->misfit( standin_ability_input( $ability, $request ) );
	if ( null !== $misfit ) {
		return standin_ability_error( 'ability_invalid_input', $misfit, 400 );
	}
	return $ability->may() ?: standin_ability_error( 'rest_ability_cannot_execute', 'Sorry, you are not allowed to execute this ability.', rest_authorization_required_code() );
}

function standin_ability_input( Standin_Ability $ability, WP_REST_Request $request ) {
	$in_query = in_array( $request->get_method(), array( 'GET', 'DELETE' ), true );
	$input    = $in_query ? $request->get_query_params() : $request->get_json_params();
	$input    = is_array( $input ) ? $input['input'] ?? null : null;
	if ( standin_agents_old() || ! $in_query || null === $input || null === $ability->schema ) {
		return $input;
	}
	$sanitized = rest_sanitize_value_from_schema( $input, $ability->schema, 'input' );
	return is_wp_error( $sanitized ) ? $input : $sanitized;
}

/** A page of the list, with its totals. */
function standin_abilities_list( WP_REST_Request $request ): WP_REST_Response {
	$listed   = array_filter( standin_abilities(), fn( $ability ) => $ability->in_rest );
	$size     = max( 1, min( 100, (int) ( $request['per_page'] ?? 50 ) ) );
	$page     = max( 1, (int) ( $request['page'] ?? 1 ) );
	$response = rest_ensure_response( array_map( fn( $ability ) => $ability->described(), array_slice( array_values( $listed ), $size * ( $page - 1 ), $size ) ) );
	$response->header( 'X-WP-Total', (string) count( $listed ) );
	$response->header( 'X-WP-TotalPages', (string) ceil( count( $listed ) / $size ) );
	return $response;
}

add_action(
	'rest_api_init',
	function () {
		$name = '(?P<name>[a-zA-Z0-9\-\/]+';
		$read = fn() => current_user_can( 'read' );
		register_rest_route(
			'wp-abilities/v1',
			"/abilities/$name?)/run",
			array(
				'methods'             => WP_REST_Server::ALLMETHODS,
				'permission_callback' => 'standin_ability_may_run',
				'callback'            => function ( WP_REST_Request $request ) {
					$ability = standin_ability( $request );
					return $ability->execute( standin_ability_input( $ability, $request ) );
				},
			)
		);
		register_rest_route( 'wp-abilities/v1', '/abilities', array( 'methods' => 'GET', 'permission_callback' => $read, 'callback' => 'standin_abilities_list' ) );
		register_rest_route(
			'wp-abilities/v1',
			"/abilities/$name)",
			array(
				'methods'             => 'GET',
				'permission_callback' => $read,
				'callback'            => function ( WP_REST_Request $request ) {
					$ability = standin_ability( $request );
					return is_wp_error( $ability ) ? $ability : $ability->described();
				},
			)
		);
	}
);
