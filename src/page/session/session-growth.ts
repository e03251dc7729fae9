// How the session's data grow, and whether a split of two tables is fair.

import { auditSplit } from '../../audit/audit.js';
import { forecastGrowth } from '../../forecast/forecast.js';
import { type NamedBlob, readBlob, readBlobWithValues } from '../../ingest/blob.js';
import { timeColumn } from '../../ingest/intake/value-column.js';
import { previewBlob } from '../../ingest/preview.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import type { Api, Audited, Forecast } from '../protocol.js';
import type { Task } from './session.js';
import { currentData, timedData } from './session-data.js';

/** With a column of times the table is read again. No model is drawn from: that would take a fit. */
export async function answerForecast(
  { time, next, usersTimes, seed }: Api['forecast'][0],
  task: Task,
): Promise<Forecast> {
  const { graph } = currentData();
  const data = time === undefined ? { graph, values: undefined } : await timedData(timeColumn(time), task);
  const growth = next === undefined ? { usersTimes } : { next };
  const found = await forecastGrowth(data.graph, { ...growth, times: data.values, draws: 0, seed, ...task });
  return { found, seed, multigraph: graph.multigraph };
}

/** The columns of both tables are guessed; both have times, or neither. */
export async function answerAudit({ train, test, seed }: Api['audit'][0], task: Task): Promise<Audited> {
  const guesses = await Promise.all([train, test].map(async (table) => (await previewBlob(table)).guess));
  const timed = guesses.every((guess) => guess.time !== undefined);
  const read = async (table: NamedBlob, { users, items, time }: (typeof guesses)[number]) => {
    const options = { users, items, ...task };
    const found = timed
      ? await readBlobWithValues(table, options, timeColumn(time!))
      : { ...(await readBlob(table, options)), values: undefined };
    return { ...found, columns: { users, items, time: timed ? time : undefined } };
  };
  const [first, second] = [await read(train, guesses[0]), await read(test, guesses[1])];
  const audit = await auditSplit(
    { train: first.graph, test: second.graph },
    { seed, ...(timed && { times: { train: first.values!, test: second.values! } }), ...task },
  );
  return {
    audit,
    seed,
    names: first.graph.names ?? USERS_AND_ITEMS,
    columns: { train: first.columns, test: second.columns },
  };
}
