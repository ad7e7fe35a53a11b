import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';

const given = useService();

type Clicked = [template: string, url: string, clicks: number, botClicks: number];

const givenClicks = (broadcastId: string, clicked: Clicked[]) =>
  query(
    given.store.fork(),
    `insert into link_clicks select 'w1', $1, template, url, clicks, bots
     from unnest($2::text[], $3::text[], $4::int[], $5::int[]) as clicked (template, url, clicks, bots)`,
    [broadcastId, ...[0, 1, 2, 3].map((column) => clicked.map((row) => row[column]))],
  );

test('links come by the clicks of people, over all templates', async () => {
  await givenClicks('b1', [
    ['a', 'https://shop.example/', 2, 0],
    ['b', 'https://shop.example/', 2, 9],
    ['a', 'https://news.example/', 3, 0],
    ['a', 'https://bots.example/', 0, 5],
  ]);
  const asked = { workspaceId: 'w1', broadcastId: 'b1', limit: 20 };
  expect(await given.progress.listBroadcastLinks(asked)).toMatchObject({
    links: [
      { url: 'https://shop.example/', clicks: 4 },
      { url: 'https://news.example/', clicks: 3 },
    ],
    linkCount: 2,
  });
  const foreign = { ...asked, workspaceId: 'w2' };
  expect(await given.progress.listBroadcastLinks(foreign)).toMatchObject({ links: [] });
});

test('the first of 500 links are listed, with the number of all', async () => {
  const long = 'x'.repeat(1_500);
  const rows = Array.from(
    { length: 500 },
    (_, index): Clicked => ['a', `https://a.example/${index}/${long}`, index + 1, 0],
  );
  await givenClicks('b2', rows);
  const asked = { workspaceId: 'w1', broadcastId: 'b2', limit: 20 };
  const { links, linkCount } = await given.progress.listBroadcastLinks(asked);
  expect(linkCount).toBe(500);
  expect(links.map(({ clicks }) => clicks)).toEqual(Array.from({ length: 20 }, (_, i) => 500 - i));
});
