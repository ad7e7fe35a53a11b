import { expect, test } from '@jest/globals';
import { homeOf } from './home.ts';

test('the home is that of the variable, then that of the user, and / for a user without one', () => {
  const unknown = () => {
    throw new Error('uv_os_homedir returned ENOENT');
  };
  expect(homeOf({ HOME: '/home/ann' }, unknown)).toBe('/home/ann');
  expect(homeOf({}, () => '/home/bob')).toBe('/home/bob');
  expect(homeOf({}, unknown)).toBe('/');
});
