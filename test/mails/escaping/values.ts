/** A value that a person may put into a field, and a harmless one of the same shape. */

export type ValuePair = { nasty: string; harmless: string };

const same = (nasty: string): ValuePair => ({
  nasty,
  harmless: nasty.replace(/[<>"'&=/;:%{}!()\\-]/g, 'z'),
});
const encoded = (nasty: string, encode: (text: string) => string): ValuePair => ({
  nasty: encode(nasty),
  harmless: encode(same(nasty).harmless),
});
const markup = '<b class="x">Ann</b> <img src=x onerror=alert(1)>';

export const valuePairs: ValuePair[] = [
  same(markup),
  same('"><b>out</b>'),
  same("' onclick='alert(1)' x='"),
  same('" onclick="alert(1)" x="'),
  same('a onclick=b style=c'),
  same('&lt;b&gt;Ann&lt;/b&gt; &#60;i&#62;'),
  same('</style></title></textarea><b>out</b>'),
  same('--> <b>out</b> <!-- '),
  same('<![endif]--><b>out</b>'),
  same(']]></mj-text><mj-raw><b>out</b></mj-raw><mj-text>'),
  same('{{ contact.last_name | raw }}{% raw %}<b>'),
  same('<b>one\ntwo</b>\n\n<i>three'),
  same('javascript:alert(1)'),
  encoded(markup, encodeURIComponent),
  encoded(markup, (text) => encodeURIComponent(encodeURIComponent(text))),
  encoded(markup, (text) => Buffer.from(text).toString('base64')),
  encoded(markup, (text) => Buffer.from(text).toString('base64url')),
  encoded(markup, (text) => JSON.stringify(text).slice(1, -1)),
];
