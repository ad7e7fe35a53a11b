/** With Liquid, each story depends on the recipient, and so do its blocks and its link. */
const story = (
  number: number,
  withLiquid: boolean,
) => `${withLiquid ? `{% if contact.custom_number_1 != ${number} %}` : ''}
    <mj-section background-color="#ffffff" padding="0 0 16px">
      <mj-column>
        ${withLiquid ? '{% if contact.email %}' : ''}<mj-text font-size="20px" font-weight="bold">Story ${number}</mj-text>${withLiquid ? '{% endif %}' : ''}
        <mj-text>The night mail went the old way, over the ridge, and nobody lost a letter. Two riders found a
          path that is quicker in summer, and a saddlebag that keeps paper dry in a wet autumn.
          <a href="https://example.com/stories/${number}${withLiquid ? '?id={{ contact.external_id | url_encode }}' : ''}">Read on</a></mj-text>
      </mj-column>
    </mj-section>${withLiquid ? '{% endif %}' : ''}`;

/** About 14 KB as sent: six merge values, five links, an unsubscribe link. */
const source = (withLiquid: boolean) => `<mjml>
  <mj-body background-color="#f4f4f4">
    <mj-section background-color="#ffffff"><mj-column>
      <mj-text font-size="24px">Hello {{ contact.first_name | default: "friend" }} {{ contact.last_name }}</mj-text>
      <mj-text>News for {{ contact.custom_string_1 | default: "your town" }}, in {{ contact.language }}.
        {% if contact.custom_number_1 > 100 %}You have been with us for long.{% endif %}</mj-text>
      <mj-button href="https://example.com/start?id={{ contact.external_id }}">Start here</mj-button>
    </mj-column></mj-section>
    ${[1, 2, 3].map((number) => story(number, withLiquid)).join('')}
    <mj-section><mj-column>
      <mj-text font-size="12px">Sent to {{ contact.email }}. <a href="{{ unsubscribe_url }}">Leave</a></mj-text>
    </mj-column></mj-section>
  </mj-body>
</mjml>`;

export const newsletter = source(false);

/** The same with Liquid around its blocks and in its links. */
export const liquidNewsletter = source(true);

/** The same with a width that depends on the recipient: MJML is compiled for each. */
export const structuredNewsletter = newsletter.replace(
  '<mj-text font-size="24px">',
  '<mj-text font-size="24px" padding-left="{{ contact.custom_number_1 | plus: 0 }}px">',
);
