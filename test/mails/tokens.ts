import { type Token, Tokenizer, TokenizerMode } from 'parse5';

/** A piece of HTML as browsers cut it; together they are the whole source. */
export type HtmlToken = {
  kind: 'text' | 'tag' | 'end' | 'comment' | 'other';
  start: number;
  end: number;
  /** Of a tag, and of the element whose end it is. */
  name: string;
  /** Of text with its references resolved, else empty. */
  text: string;
  attributes: HtmlAttribute[];
  /** The element in which text is no markup. */
  inside: string;
};

export type HtmlAttribute = {
  name: string;
  /** With its references resolved. */
  value: string;
  /** The place of the value, without quotes; -1 if there is none. */
  start: number;
  end: number;
};

const modes = new Map<string, Tokenizer['state']>([
  ['title', TokenizerMode.RCDATA],
  ['textarea', TokenizerMode.RCDATA],
  ['style', TokenizerMode.RAWTEXT],
  ['xmp', TokenizerMode.RAWTEXT],
  ['iframe', TokenizerMode.RAWTEXT],
  ['noembed', TokenizerMode.RAWTEXT],
  ['noframes', TokenizerMode.RAWTEXT],
  ['script', TokenizerMode.SCRIPT_DATA],
  ['plaintext', TokenizerMode.PLAINTEXT],
]);

/** Cuts HTML; its line ends have to be `\n`. */
export function tokensOf(html: string): HtmlToken[] {
  const tokens: HtmlToken[] = [];
  let inside = '';
  const add = (
    kind: HtmlToken['kind'],
    location: Token.Location | null,
    over: Partial<HtmlToken> = {},
  ) => {
    const start = location?.startOffset ?? 0;
    const end = location?.endOffset ?? html.length;
    tokens.push({ kind, start, end, name: '', text: '', attributes: [], inside, ...over });
  };
  const addText = ({ chars, location }: Token.CharacterToken) => {
    const last = tokens.at(-1);
    if (last?.kind !== 'text') return add('text', location, { text: chars });
    last.text += chars;
    last.end = location?.endOffset ?? last.end;
  };
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag(tag) {
        add('tag', tag.location, { name: tag.tagName, attributes: attributesOf(html, tag) });
        const mode = modes.get(tag.tagName);
        if (mode === undefined) return;
        tokenizer.state = mode;
        inside = tag.tagName;
      },
      onEndTag(tag) {
        inside = '';
        add('end', tag.location, { name: tag.tagName });
      },
      onComment: ({ location }) => add('comment', location),
      onDoctype: ({ location }) => add('other', location),
      onCharacter: addText,
      onNullCharacter: addText,
      onWhitespaceCharacter: addText,
      onEof: () => {},
    },
  );
  tokenizer.write(html, true);
  return tokens;
}

function attributesOf(html: string, tag: Token.TagToken): HtmlAttribute[] {
  return tag.attrs.map(({ name, value }) => {
    const at = tag.location?.attrs?.[name];
    const source = at ? html.slice(at.startOffset, at.endOffset) : '';
    const found = /^[^=]+=[ \t\r\n\f]*(["']?)/.exec(source);
    if (!at || !found) return { name, value, start: -1, end: -1 };
    const [before, quote = ''] = found;
    return {
      name,
      value,
      start: at.startOffset + before.length,
      end: at.endOffset - quote.length,
    };
  });
}
