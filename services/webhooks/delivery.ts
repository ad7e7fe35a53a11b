/** After so many attempts a delivery has failed. */
export const attemptsMax = 10;

/** The `last_error` of a delivery that is never attempted. */
export const payloadTooLarge = 'the payload is larger than 256 KiB';
