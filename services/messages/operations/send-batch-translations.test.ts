import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { batchOf, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();
beforeEach(() => {
  given.sink.reset();
  given.world.isTracked = false;
  given.world.content = { ...defaultContent, subject: 'Hello {{ contact.first_name }}' };
  given.world.translations = new Map([
    [
      'fr',
      {
        subject: 'Bonjour {{ contact.last_name }}',
        html: '<p>Salut {{ contact.first_name }}</p><a href="https://fr.example/">lire</a>',
        senderId: 's2',
        replyTo: 'reponse@sender.example',
      },
    ],
    ['pt-BR', { subject: 'Oi', html: '<p>Oi {{ contact.first_name }}</p>' }],
  ]);
});

const speakers = {
  'fr@example.com': 'fr',
  'quebec@example.com': 'fr-CA',
  'brazil@example.com': 'PT-br',
  'english@example.com': 'en',
  'german@example.com': 'de',
  'silent@example.com': null,
};

function speak() {
  for (const [email, language] of Object.entries(speakers)) {
    given.world.fields.set(email, { first_name: 'Ann', last_name: 'Lee', language });
  }
  return batchOf(Object.keys(speakers));
}

async function mailTo(email: string) {
  const bodies = given.sink.bodies(email);
  expect(bodies).toHaveLength(1);
  return PostalMime.parse(Buffer.from(bodies[0] ?? '', 'latin1'));
}

const subjects = async (emails: string[]) =>
  Object.fromEntries(
    await Promise.all(emails.map(async (email) => [email, (await mailTo(email)).subject])),
  );

test('each recipient of a batch gets the mail in their own language', async () => {
  const batch = speak();
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 6, failed: 0, notStarted: 0 });
  expect(await subjects(batch.emails)).toEqual({
    'fr@example.com': 'Bonjour Lee',
    'quebec@example.com': 'Bonjour Lee',
    'brazil@example.com': 'Oi',
    'english@example.com': 'Hello Ann',
    'german@example.com': 'Hello Ann',
    'silent@example.com': 'Hello Ann',
  });
});

test('a translation has its own body, sender and address for answers', async () => {
  await given.sender.sendBatch(speak());
  const french = await mailTo('quebec@example.com');
  expect(french.html).toContain('Salut Ann');
  expect(french.text).toContain('Salut Ann');
  expect(french.from?.address).toBe('infos@sender.example');
  expect(french.replyTo?.[0]?.address).toBe('reponse@sender.example');
  const english = await mailTo('english@example.com');
  expect(english.html).toContain('Hi Ann');
  expect(english.from?.address).toBe('news@sender.example');
  expect(english.replyTo).toBeUndefined();
});

test('a link of a translation leads where the translation says', async () => {
  given.world.isTracked = true;
  given.world.content = { ...given.world.content, html: '<a href="https://en.example/">read</a>' };
  const batch = speak();
  const fresh = given.newProcess();
  await fresh.sender.sendBatch(batch);
  fresh.context.admission.close();
  const leadTo = async (email: string) => {
    const { html = '' } = await mailTo(email);
    const token = /href="https:\/\/mail\.example\/r\/w1\/([\w-]{43})\/0"/.exec(html)?.[1] ?? '';
    await given.tracking.recordHits({ hits: [{ workspaceId: 'w1', token, link: 0 }] });
    return (await given.tracking.getTrackedLinks({ workspaceId: 'w1', token })).urls;
  };
  expect(await leadTo('fr@example.com')).toEqual(['https://fr.example/', '{{ url }}']);
  expect(await leadTo('german@example.com')).toEqual(['https://en.example/']);
  const { broadcastId } = batch;
  const { stats } = await given.sender.listVariationStats({
    workspaceId: 'w1',
    broadcastIds: [broadcastId],
  });
  expect(stats).toMatchObject([{ sent: 6, clicked: 2 }]);
});

test('a translation with loops goes through the thread beside the others', async () => {
  given.world.translations.set('fr', {
    subject: 'Bonjour',
    html: '<p>{% for n in contact.custom_json_1.items %}[{{ n }}]{% endfor %}</p>',
  });
  const batch = speak();
  given.world.fields.set('fr@example.com', { language: 'fr', custom_json_1: { items: [1, 2] } });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 6, failed: 0 });
  expect((await mailTo('fr@example.com')).html).toContain('[1][2]');
  expect((await mailTo('german@example.com')).html).toContain('Hi Ann');
});

test('each language of a version is asked for and compiled once', async () => {
  const asked: string[] = [];
  const { getTemplateContent } = given.peers.templates;
  const templates: typeof given.peers.templates = {
    ...given.peers.templates,
    getTemplateContent: (request, options) => {
      asked.push(`${request.version} ${request.language ?? ''}`);
      return getTemplateContent(request, options);
    },
  };
  const { createPlans } = await import('../plans/plans.ts');
  const other = given.newProcess({ plans: createPlans({ ...given.peers, templates }) });
  const batch = speak();
  await other.sender.sendBatch({ ...batch, emails: batch.emails.slice(0, 3) });
  await other.sender.sendBatch(batch);
  expect(asked).toEqual(['1 ', '1 fr', '1 pt-BR']);
  other.context.admission.close();
});

test('sendBatch refuses a plan one of whose translations is broken', async () => {
  given.world.translations.set('fr', { subject: 'Bonjour', html: '{% if x %}' });
  await expect(given.sender.sendBatch(speak())).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});
