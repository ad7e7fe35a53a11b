/** An address to connect to. */
export type Target = { address: string; family: 4 | 6 };
