/** An address to connect to. */
export type OutsideAddress = { address: string; family: 4 | 6 };
