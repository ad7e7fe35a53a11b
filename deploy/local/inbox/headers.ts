/**
 * The headers for lists of mails, read without parsing the whole mail: hundreds arrive a second.
 */
export type ShortHeaders = { subject: string; messageId: string };

/** Headers beyond this are not shown. */
const headerBytesMax = 64 * 1024;
const textCharsMax = 500;

export function shortHeaders(raw: Buffer): ShortHeaders {
  const head = raw.subarray(0, headerBytesMax);
  const end = head.indexOf('\r\n\r\n');
  const lines = head
    .subarray(0, end < 0 ? head.length : end)
    .toString('utf8')
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const value = (name: string): string => {
    const line = lines.find((text) => text.slice(0, name.length).toLowerCase() === name);
    return (
      line
        ?.slice(name.length)
        .trim()
        .slice(0, 4 * textCharsMax) ?? ''
    );
  };
  return {
    subject: decodeWords(value('subject:')).slice(0, textCharsMax),
    messageId: value('message-id:').slice(0, textCharsMax),
  };
}

/** Decodes RFC 2047 words. A character may be cut between two words, so bytes are joined first. */
function decodeWords(text: string): string {
  const word = String.raw`=\?[^?\s]+\?[bq]\?[^?\s]*\?=`;
  return text.replace(new RegExp(`${word}(?:\\s+${word})*`, 'gi'), (run) => {
    const words = run.split(/\s+/).map((each) => each.split('?'));
    const charset = words[0]?.[1]?.replace(/\*.*/, '') ?? 'utf-8';
    const bytes = Buffer.concat(words.map(([, , encoding, data]) => bytesOf(encoding, data ?? '')));
    try {
      return new TextDecoder(charset).decode(bytes);
    } catch {
      return run;
    }
  });
}

function bytesOf(encoding: string | undefined, data: string): Buffer {
  if (encoding?.toLowerCase() === 'b') return Buffer.from(data, 'base64');
  const spaced = data.replaceAll('_', ' ');
  const latin = spaced.replace(/=([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  return Buffer.from(latin, 'latin1');
}
