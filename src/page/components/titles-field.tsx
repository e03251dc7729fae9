import { grouped } from '../../text/numbers.js';
import { shown } from '../../text/untrusted.js';
import { openTitles } from '../actions.js';
import { model, opened, titles } from '../state.js';
import { work } from '../work.js';

/** Takes a second table with the titles of the items; a file that is dropped on these steps is one, too. */
export function TitlesField() {
  const names = (opened.value ?? model.value)?.names;
  if (!names || model.value?.served) return null;
  const found = titles.value;
  return (
    <div class="titles">
      <label class="file">
        <input
          type="file"
          accept=".csv,.tsv,.txt,.dat,.jsonl,.ndjson,.parquet,.gz"
          disabled={work.value !== undefined}
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file) void openTitles(file.name, file);
            event.currentTarget.value = '';
          }}
        />
        <span>{found ? 'Other titles' : 'Add titles'}</span>
      </label>
      <p class="quiet" role="status">
        {found
          ? `${grouped(found.matched)} of ${grouped(found.of)} ${names.items.many} have a title, from column ${shown(found.columns.title, 30)} of ${shown(found.source, 40)}.`
          : `Drop a table with the ids and titles of the ${names.items.many}. Its columns are found by themselves.`}
      </p>
    </div>
  );
}
