import type { Operation } from '../typescript/src/http.ts';

/** A field of a request, by which a flag is named. */
export type CliField = {
  name: string;
  description: string;
  kind: 'string' | 'number' | 'boolean' | 'json';
  isList: boolean;
  isRequired: boolean;
  /** The values that it may have, where the contract lists them. */
  values: string[];
};

/** An operation of the API as a command. */
export type CliOperation = {
  name: string;
  operation: Operation;
  description: string;
  fields: CliField[];
  /** Whether the answer is a stream, of lines or of a file. */
  isStream: boolean;
};

export type CliResource = { name: string; description: string; operations: CliOperation[] };
