// How the session's data grow, and whether a split of two tables is fair.

import { auditSplit } from '../../audit/audit.js';
import { InputError } from '../../errors.js';
import { forecastGrowth } from '../../forecast/forecast.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { type NamedBlob, readBlob, readBlobWithValues } from '../../ingest/blob.js';
import { timeColumn } from '../../ingest/intake/value-column.js';
import { previewBlob } from '../../ingest/preview.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import type { Api, Audited, AuditedColumns, AuditPart, Forecast } from '../protocol.js';
import type { Task } from './session.js';
import { currentData, timedData } from './session-data.js';

/** With a column of times the table is read again. No model is drawn from: that would take a fit. */
export async function answerForecast(
  { time, next, usersTimes, seed }: Api['forecast'][0],
  task: Task,
): Promise<Forecast> {
  const { graph } = currentData();
  const data: Awaited<ReturnType<typeof timedData>> =
    time === undefined ? { graph, values: undefined } : await timedData(timeColumn(time), task);
  const growth = next === undefined ? { usersTimes } : { next };
  const found = await forecastGrowth(data.graph, { ...growth, times: data.values, draws: 0, seed, ...task });
  return { found, seed, asked: { ...growth, time }, multigraph: graph.multigraph, caution: data.caution };
}

/** The columns of each table are guessed; all have times, or none. */
export async function answerAudit({ files, seed }: Api['audit'][0], task: Task): Promise<Audited> {
  const tables = await Promise.all(
    (Object.entries(files) as [AuditPart, NamedBlob][]).map(async ([part, table]) => {
      const { names, guess } = await previewBlob(table);
      // This step has no choice of a separator that an error could name.
      if (names.length < 2)
        throw new InputError(`${table.name}: there is only one column; give a table of users and items`);
      return [part, table, guess] as const;
    }),
  );
  const timed = tables.every(([, , guess]) => guess.time !== undefined);
  const graphs: Partial<Record<AuditPart, BipartiteGraph>> = {};
  const times: Partial<Record<AuditPart, Float64Array>> = {};
  const columns: Partial<Record<AuditPart, AuditedColumns>> = {};
  for (const [part, table, { users, items, time }] of tables) {
    const options = { users, items, ...task };
    if (timed) {
      const { graph, values } = await readBlobWithValues(table, options, timeColumn(time!));
      [graphs[part], times[part]] = [graph, values];
    } else graphs[part] = (await readBlob(table, options)).graph;
    columns[part] = { users, items, time: timed ? time : undefined };
  }
  const { train, test, foldIn } = graphs;
  if (!train || !test) throw new InputError('give both tables, training and test');
  const audit = await auditSplit({ train, test, foldIn }, { seed, ...(timed && { times }), ...task });
  return { audit, seed, names: train.names ?? USERS_AND_ITEMS, columns };
}
