import { createRequest, type Given } from './given.ts';

export const section = (text: string) =>
  `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;

/** A layout with a head, and sections around the content. */
export const frame = `<mjml>
<mj-head>
<mj-title>Layout</mj-title>
<mj-attributes><mj-text color="#111111" /></mj-attributes>
<mj-style>.layout { color: red }</mj-style>
</mj-head>
<mj-body background-color="#eeeeee">
${section('Above')}
{{ content }}
${section('Below')}
</mj-body>
</mjml>`;

/** The id of a layout. */
export async function givenLayout({ client }: Given, source = frame): Promise<string> {
  const request = createRequest(source);
  await client.createTemplate(request);
  return request.id;
}

/** A request for a template with a layout. */
export const wrapped = (templateMacroId: string, source?: string) => ({
  ...createRequest(source),
  templateMacroId,
});
