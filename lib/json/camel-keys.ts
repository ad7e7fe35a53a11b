type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name;

/**
 * The names that generated code gives the fields whose columns are called like the keys of `Row`.
 */
export type CamelKeys<Row> = { [Key in keyof Row & string as Camel<Key>]: Row[Key] };

/**
 * A row, or a stored object, with its keys in camel case. Values stay as they are, nested objects
 * too.
 */
export function camelKeys<Row extends object>(row: Row): CamelKeys<Row> {
  const entries = Object.entries(row).map(([key, value]) => [camelOf(key), value]);
  return Object.fromEntries(entries);
}

/** The column of a field's name in generated code. */
export function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const known = new Map<string, string>();

/** Columns are few, so each is rewritten once. */
function camelOf(key: string): string {
  const name = known.get(key) ?? key.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  known.set(key, name);
  return name;
}
