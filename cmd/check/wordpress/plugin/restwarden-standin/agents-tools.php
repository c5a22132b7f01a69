<?php
/**
 * The tools, prompts and resources of one of the adapter's servers. A tool's name is the
 * ability's id with a dash for the slash.
 */

class Standin_Tools {
	private array $abilities = array(); // by tool or prompt name
	private bool $custom;

	/** Offers the abilities of some ids; a custom server has tools that are no abilities, too. */
	public function __construct( array $ids, bool $custom ) {
		$this->custom = $custom;
		foreach ( $ids as $id ) {
			$name = str_replace( '/', '-', $id );
			if ( standin_agents_old() || ! isset( $this->abilities[ $name ] ) ) {
				$this->abilities[ $name ] = standin_abilities()[ $id ];
			}
		}
	}

	private function named( string $name, string $type ): ?Standin_Ability {
		$ability = $this->abilities[ $name ] ?? null;
		return $ability && $type === $ability->type ? $ability : null;
	}

	/** Calls a tool. What the ability refuses is a result with isError, an unknown tool an error. */
	public function call( string $name, $arguments ): array {
		$own = array(
			'mcp-adapter-discover-abilities' => fn() => $this->discover(),
			'mcp-adapter-get-ability-info'   => fn() => $this->info( $arguments ),
			'mcp-adapter-execute-ability'    => fn() => $this->execute( $arguments ),
		);
		if ( isset( $own[ $name ] ) ) {
			return $this->result( $own[ $name ]() );
		}
		if ( $this->custom && 'plain_tool' === $name && ! standin_agents_old() ) {
			standin_ran( '(tool plain_tool)', $arguments );
			return $this->result( array( 'ok' => true ) );
		}
		$ability = $this->named( $name, 'tool' );
		if ( ! $ability ) {
			return array( 'error' => array( -32003, 'Tool not found' ) );
		}
		if ( null !== $ability->schema && 'object' !== $ability->schema['type'] ) {
			$arguments = is_array( $arguments ) ? $arguments['input'] ?? null : null;
		}
		return $this->result( $ability->execute( $this->without_input( $ability, $arguments ) ) );
	}

	/** Nothing in place of nothing: abilities without a schema take no input. */
	private function without_input( Standin_Ability $ability, $input ) {
		$empty = standin_agents_old() ? empty( $input ) : array() === $input;
		return null === $ability->schema && $empty ? null : $input;
	}

	public function read( string $uri ): array {
		$ability = $this->custom && 'lab://doc' === $uri ? standin_abilities()['lab/doc'] : null;
		if ( ! $ability ) {
			return array( 'error' => array( -32002, 'Resource not found' ) );
		}
		$ability->execute( null );
		return array( 'contents' => array( array( 'uri' => $uri, 'text' => 'A document.' ) ) );
	}

	public function prompt( string $name, $arguments ): array {
		$ability = $this->named( $name, 'prompt' );
		if ( ! $ability ) {
			return array( 'error' => array( -32004, 'Prompt not found' ) );
		}
		$result = $ability->execute( $arguments );
		return is_wp_error( $result )
			? array( 'error' => array( -32603, $result->get_error_message() ) )
			: array( 'messages' => array( array( 'role' => 'user', 'content' => array( 'type' => 'text', 'text' => 'Asked.' ) ) ) );
	}

	/** Runs an ability by its id, where it is public to agents. */
	private function execute( $input ) {
		$schema = array(
			'type'                 => 'object',
			'properties'           => array( 'ability_name' => array( 'type' => 'string' ), 'parameters' => array( 'type' => 'object' ) ),
			'required'             => array( 'ability_name', 'parameters' ),
			'additionalProperties' => ! standin_agents_old(),
		);
		$valid  = rest_validate_value_from_schema( $input, $schema, 'input' );
		if ( is_wp_error( $valid ) ) {
			return $valid;
		}
		$ability = $this->exposed( $input );
		if ( is_wp_error( $ability ) ) {
			return $ability;
		}
		$parameters = $input['parameters'];
		if ( standin_agents_old() && empty( $parameters ) ) {
			$parameters = null;
		}
		$result = $ability->execute( $this->without_input( $ability, $parameters ) );
		return is_wp_error( $result ) ? $result : array( 'success' => true, 'data' => $result );
	}

	private function info( $input ) {
		$ability = $this->exposed( $input );
		return is_wp_error( $ability ) ? $ability : $ability->described();
	}

	private function exposed( $input ) {
		$name    = is_array( $input ) ? $input['ability_name'] ?? '' : '';
		$ability = is_string( $name ) ? standin_abilities()[ $name ] ?? null : null;
		return $ability && $ability->public_mcp ? $ability : new WP_Error( 'ability_not_public_mcp', 'Ability is not exposed via MCP' );
	}

	private function discover(): array {
		$public = array_filter( standin_abilities(), fn( $ability ) => $ability->public_mcp && 'tool' === $ability->type );
		$shown  = fn( $ability ) => array( 'name' => $ability->name, 'label' => $ability->name, 'description' => 'An ability of the stand-in.' );
		return array( 'abilities' => array_map( $shown, array_values( $public ) ) );
	}

	private function result( $result ): array {
		$failed = is_wp_error( $result );
		$answer = array(
			'content' => array( array( 'type' => 'text', 'text' => $failed ? $result->get_error_message() : wp_json_encode( $result ) ) ),
			'isError' => $failed,
		);
		return $failed ? $answer : $answer + array( 'structuredContent' => $result );
	}

	/** The list of tools, as tools/list answers it. */
	public function listed(): array {
		$tools = array();
		foreach ( $this->abilities as $name => $ability ) {
			if ( 'tool' === $ability->type ) {
				$tools[] = $this->tool( $name, $ability->annotations['readonly'] );
			}
		}
		foreach ( array( 'discover-abilities' => true, 'get-ability-info' => true, 'execute-ability' => false ) as $name => $readonly ) {
			$tools[] = $this->tool( "mcp-adapter-$name", $readonly );
		}
		if ( $this->custom && ! standin_agents_old() ) {
			$tools[] = $this->tool( 'plain_tool', false );
		}
		return $tools;
	}

	private function tool( string $name, bool $readonly ): array {
		return array(
			'name'        => $name,
			'description' => 'A tool of the stand-in.',
			'inputSchema' => array( 'type' => 'object' ),
			'annotations' => array( 'readOnlyHint' => $readonly ),
		);
	}

	public function resources(): array {
		return $this->custom ? array( array( 'uri' => 'lab://doc', 'name' => 'lab-doc' ) ) : array();
	}

	public function prompts(): array {
		return $this->custom ? array( array( 'name' => 'lab-ask' ) ) : array();
	}
}
