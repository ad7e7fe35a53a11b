/** A result of a check. */
export type Finding = {
  state: 'ok' | 'warning' | 'wrong';
  /** Of what, such as a variable. */
  about: string;
  text: string;
  /** A command, or a setting to change. */
  remedy?: string;
};

export const ok = (about: string, text: string): Finding => ({ state: 'ok', about, text });

export const warning = (about: string, text: string, remedy: string): Finding => ({
  state: 'warning',
  about,
  text,
  remedy,
});

export const wrong = (about: string, text: string, remedy: string): Finding => ({
  state: 'wrong',
  about,
  text,
  remedy,
});

/** Never the URL, which has a password. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error);

const driftWarningMs = 5_000;
/** As far apart as tokens of another process may be. */
const driftMaxMs = 60_000;

/** `theirs` was read between `before` and `after`. */
export function clockFinding(
  about: string,
  theirs: number,
  { before, after }: { before: number; after: number },
): Finding {
  const apart = Math.max(0, before - theirs, theirs - after);
  const text = `its clock and that of this machine are ${(apart / 1_000).toFixed(1)} s apart`;
  if (apart < driftWarningMs) return ok(about, text);
  const remedy = 'run an NTP client on both machines';
  return apart < driftMaxMs ? warning(about, text, remedy) : wrong(about, text, remedy);
}
