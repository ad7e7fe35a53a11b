import { expect, test } from '@jest/globals';
import { tooManyAtOnce } from './admission.ts';
import { CallerPlaces } from './caller-places.ts';

const limits = {
  ...{ aloneMax: 2, besideOthersMax: 2, unauthenticatedMax: 1 },
  ...{ waitingMax: 2, waitMaxMs: 60_000 },
};
const { signal } = new AbortController();

test('a caller has so many places, and the next one gets the first that is given back', async () => {
  const places = new CallerPlaces(limits, tooManyAtOnce);
  const [leave] = await Promise.all([places.enter('one', signal), places.enter('one', signal)]);
  const entered: number[] = [];
  const waiting = [1, 2].map((each) =>
    places.enter('one', signal).then((leaveToo) => {
      entered.push(each);
      return leaveToo;
    }),
  );
  await places.enter('other', signal);
  expect(entered).toEqual([]);
  leave();
  (await waiting[0])?.();
  await waiting[1];
  expect(entered).toEqual([1, 2]);
});

test('while others make calls a caller has fewer places', async () => {
  const places = new CallerPlaces({ ...limits, aloneMax: 3, besideOthersMax: 1 }, tooManyAtOnce);
  const enter = () => places.enter('one', signal);
  const [first, second] = await Promise.all([enter(), enter()]);
  await places.enter('other', signal);
  let hasEntered = false;
  const third = enter().then(() => {
    hasEntered = true;
  });
  first();
  await new Promise((done) => setImmediate(done));
  expect(hasEntered).toBe(false);
  second();
  await third;
});

test('a call that gets no place in time, or has too many before it, is a 429', async () => {
  const places = new CallerPlaces({ ...limits, waitMaxMs: 1, waitingMax: 1 }, tooManyAtOnce);
  await Promise.all([places.enter('one', signal), places.enter('one', signal)]);
  const late = places.enter('one', signal);
  const refused = { failure: { status: 429, headers: { 'retry-after': '1' } } };
  await expect(places.enter('one', signal)).rejects.toMatchObject(refused);
  await expect(late).rejects.toMatchObject(refused);
});

test('a client that leaves gives up its turn', async () => {
  const places = new CallerPlaces(limits, tooManyAtOnce);
  const [leave] = await Promise.all([places.enter('one', signal), places.enter('one', signal)]);
  const gone = new AbortController();
  const left = places.enter('one', gone.signal);
  const stays = places.enter('one', signal);
  gone.abort();
  await expect(left).rejects.toThrow('aborted');
  leave();
  await stays;
});

test('while others make calls an address without a token has fewer places still', async () => {
  const places = new CallerPlaces(
    { ...limits, besideOthersMax: 2, unauthenticatedMax: 1 },
    tooManyAtOnce,
  );
  await places.enter('other', signal);
  const [leave] = await Promise.all([places.enter('address', signal, true)]);
  let hasEntered = false;
  const second = places.enter('address', signal, true).then(() => {
    hasEntered = true;
  });
  await new Promise((done) => setImmediate(done));
  expect(hasEntered).toBe(false);
  leave?.();
  await second;
});
