/**
 * How deep messages may nest on the wire. JSON at the gateway may nest 64 levels, and each level of
 * a free-form object is up to four messages.
 */
export const binaryOptions = { recursionLimit: 300 };

/**
 * Larger than the largest body the gateway takes, which is 16 MiB, and than the largest mail that
 * the relay takes, which is 26 MB.
 */
export const messageMaxBytes = 28 * 1024 * 1024;

/**
 * The limit of a message to an operation without a token. Its JSON is at most 64 KiB at the
 * gateway, and a message may be six times its JSON: a number of one digit is two bytes there and
 * eleven here.
 */
export const publicMessageMaxBytes = 512 * 1024;

/** The header in which the gateway sends the address of its client. */
export const clientAddressHeader = 'x-client-address';

/**
 * The header with the gateway's own token, which vouches for the address where the caller's token
 * is passed on.
 */
export const clientAddressTokenHeader = 'x-client-address-token';

/** The peer of a connection, which every server sets itself, whatever the client has sent. */
export const peerAddressHeader = 'x-peer-address';
