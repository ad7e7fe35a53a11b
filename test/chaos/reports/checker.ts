/** A message, and the reports about it in requests that were answered 200. */
export type Reported = { id: string; email: string; events: readonly ReportedEvent[] };
export type ReportedEvent = 'delivered' | 'bounce' | 'complaint';

/** A message as the installation has it afterwards. */
export type Outcome = {
  id: string;
  delivered: boolean;
  bounced: boolean;
  complained: boolean;
  /** Whether its address is suppressed. */
  suppressed: boolean;
};

export type Observed = {
  reported: readonly Reported[];
  outcomes: readonly Outcome[];
  /** Sums of the counts of the broadcast. */
  counts: Record<'delivered' | 'bounced' | 'complained', number>;
  /** Types of the events that webhooks has, by message. */
  events: readonly { id: string; type: string }[];
};

export type Verdict = { lost: number; twice: number; problems: string[] };

const kinds = [
  { event: 'delivered', field: 'delivered', type: 'email.delivered' },
  { event: 'bounce', field: 'bounced', type: 'email.bounced' },
  { event: 'complaint', field: 'complained', type: 'email.complained' },
] as const;

/** Each report that was answered is applied, counted and an event once, and nothing else is. */
export function verdictOf({ reported, outcomes, counts, events }: Observed): Verdict {
  const problems: string[] = [];
  const known = new Map(outcomes.map((each) => [each.id, each]));
  const published = Map.groupBy(events, ({ id, type }) => `${type} ${id}`);
  let [lost, twice] = [0, 0];
  for (const { id, events: given } of reported) {
    const outcome = known.get(id);
    for (const { event, field, type } of kinds) {
      const isReported = given.includes(event);
      const count = published.get(`${type} ${id}`)?.length ?? 0;
      if (isReported && !outcome?.[field]) lost += 1;
      if (!isReported && outcome?.[field]) problems.push(`${id} is ${field}, and nobody said so`);
      if (count > 1) twice += count - 1;
      if (isReported !== count > 0) problems.push(`${id} has ${count} events ${type}`);
    }
    const isDead = given.includes('bounce') || given.includes('complaint');
    if (isDead && !outcome?.suppressed) problems.push(`${id} leaves its address open`);
  }
  for (const { field } of kinds) {
    const applied = outcomes.filter((outcome) => outcome[field]).length;
    if (counts[field] !== applied) {
      problems.push(`${counts[field]} are counted as ${field}, and ${applied} are`);
    }
  }
  if (lost > 0) problems.push(`${lost} reports were lost`);
  if (twice > 0) problems.push(`${twice} events were published twice`);
  return { lost, twice, problems };
}
