const lengthMax = 500;
const parametersMax = 10;
const typeName = '[a-z0-9][a-z0-9!#$&^_.+-]{0,80}';
const mediaType = new RegExp(`^(${typeName}/${typeName})[ \\t]*(?:$|(?=;))`, 'i');
/** RFC 2045: a token, or a quoted string in ASCII. */
const parameter =
  /[ \t]*;[ \t]*([!#$%&'*+.0-9a-z^_`{|}~-]{1,60})=([!#$%&'*+.0-9a-z^_`{|}~-]+|"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*")[ \t]*(?=;|$)/iy;
/** Also in the parts of RFC 2231. */
export const ofName = /^name(?:\*|$)/i;
/** Some readers know them, and others do not. */
const inPieces = /^(?:boundary|charset)\*/i;

type WrittenParameter = {
  /** In lower case. */
  key: string;
  name: string;
  value: string;
};

type MediaType = { type: string; parameters: readonly WrittenParameter[] };

/** A media type with its parameters as they were written, or what is wrong with it. */
function readMediaType(given: string): MediaType | { fault: string } {
  if (given.length > lengthMax) return { fault: `must be at most ${lengthMax} characters` };
  const start = mediaType.exec(given);
  const type = start?.[1];
  if (!start || !type) return { fault: 'is not a media type of a file' };
  const parameters = new Map<string, WrittenParameter>();
  for (let at = start[0].length; at < given.length; at = parameter.lastIndex) {
    parameter.lastIndex = at;
    const [, name = '', value = ''] = parameter.exec(given) ?? [];
    if (name === '')
      return { fault: 'has a parameter that is neither name=value nor name="value"' };
    const key = name.toLowerCase();
    if (parameters.has(key)) return { fault: `has the parameter ${key} twice` };
    parameters.set(key, { key, name, value });
  }
  return { type, parameters: [...parameters.values()] };
}

/**
 * Reads the media type of a file, with its parameters as they were written. `name` is left out: a
 * mail gives a file's own name there. Otherwise says what is wrong.
 */
export function readContentType(given: string): { type: string } | { fault: string } {
  const read = readMediaType(given);
  if ('fault' in read) return read;
  const { type, parameters } = read;
  if (/^(?:multipart|message)\//i.test(type)) return { fault: 'must not be multipart or message' };
  if (parameters.length > parametersMax) {
    return { fault: `must have at most ${parametersMax} parameters` };
  }
  const kept = parameters.filter(({ name }) => !ofName.test(name));
  return { type: type + kept.map(({ name, value }) => `; ${name}=${value}`).join('') };
}

/**
 * The `Content-Type` of a mail's part: its type in lower case, and its parameters by their names in
 * lower case, unquoted. Undefined where readers may disagree about it.
 */
export function partTypeOf(
  given: string,
): { type: string; parameters: ReadonlyMap<string, string> } | undefined {
  if (given.length > lengthMax) return undefined;
  const read = readMediaType(given.replace(/[ \t]*;$/, ''));
  if ('fault' in read || read.parameters.some(({ key }) => inPieces.test(key))) return undefined;
  const parameters = read.parameters.map(({ key, value }) => [key, unquoted(value)] as const);
  return { type: read.type.toLowerCase(), parameters: new Map(parameters) };
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}
