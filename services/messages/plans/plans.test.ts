import { expect, test } from '@jest/globals';
import { plan, useService } from '../test/given.ts';
import { createPlans } from './plans.ts';

const given = useService();

test('the templates of 1,000 workspaces that send in turn are read and compiled once each', async () => {
  const style = 'border-collapse:collapse;margin:0px auto;max-width:600px;'.repeat(25);
  const paragraph = `<p style="${style}">The night mail went the old way, and nobody lost a letter.</p>`;
  const html = `<p>Hi {{ contact.first_name }}</p>${paragraph.repeat(12)}<a href="{{ unsubscribe_url }}">leave</a>`;
  given.world.content = { ...given.world.content, html };
  let reads = 0;
  const plans = createPlans({
    ...given.peers,
    templates: {
      getTemplateContent: (request) => {
        reads += 1;
        return given.peers.templates.getTemplateContent(request);
      },
    },
  });
  const about = { isTracked: false, feedbackId: [], values: {}, utm: {} };
  const turn = async () => {
    const compiled = [];
    for (let tenant = 0; tenant < 1_000; tenant += 1) {
      const key = { ...plan, workspaceId: `w${tenant}`, about };
      compiled.push((await plans.get(key)).variantFor({}).program);
    }
    return compiled;
  };
  const first = await turn();
  const second = await turn();
  expect(html.length).toBeGreaterThan(18_000);
  expect(first.filter((program, tenant) => program !== second[tenant]).length).toBe(0);
  expect(reads).toBe(1_000);
}, 120_000);
