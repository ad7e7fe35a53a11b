import { isCancellation } from '@temporalio/workflow';

/**
 * Does in this worker what needs no way to the server and back, once. While the database is away,
 * repeats belong to the server and not to a history.
 */
export async function hereFirst<Result>(
  here: () => Promise<Result>,
  byServer: () => Promise<Result>,
): Promise<Result> {
  try {
    return await here();
  } catch (error) {
    if (isCancellation(error)) throw error;
    return byServer();
  }
}
